package endpoint

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/dataset/audio"
	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

const (
	probeTime = 5 * time.Second
	// HealthTime is longer because SGLang's health check generates a token and
	// takes up to 20 s for it.
	HealthTime = 20 * time.Second
	// TokenTime is what the first token may take: a compilation, or the model's
	// load where an engine loads with the first request.
	TokenTime = 5 * time.Minute

	maxBody = 16 << 20
)

// prober asks a server small questions. It goes through no proxy, keeps no
// connection, and takes no compressed answers.
type prober struct {
	base   string // without trailing slash
	shown  string // base without a password, for messages
	key    string
	header map[string]string
	client *http.Client
	redact recipe.Redaction
}

func newProber(base string, spec recipe.Spec) *prober {
	return &prober{
		base:   base,
		shown:  WithoutPassword(base),
		key:    spec.APIKey,
		header: spec.Headers,
		redact: recipe.NewRedaction(spec),
		client: &http.Client{Transport: &http.Transport{
			Proxy:              nil,
			DisableKeepAlives:  true,
			DisableCompression: true,
			DialContext:        dialTo(spec.UnixSocket),
			TLSClientConfig:    spec.TLS,
		}, CheckRedirect: sameServer},
	}
}

// sameServer follows a redirect to another path of the server that was asked, such
// as one with a slash, and to no other address: the user named this one.
func sameServer(next *http.Request, before []*http.Request) error {
	const most = 5
	if len(before) >= most || next.URL.Host != before[0].URL.Host || next.URL.Scheme != before[0].URL.Scheme {
		return http.ErrUseLastResponse
	}
	return nil
}

// dialTo connects to the address asked for, or to a unix socket instead.
func dialTo(socket string) func(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: probeTime}
	if socket == "" {
		return dialer.DialContext
	}
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "unix", socket)
	}
}

// Answer is what came of a probe: either err or a status with a body.
type Answer struct {
	what   string // "GET http://host/path"
	Status int
	Body   []byte
	Err    error
}

// OK reports whether an answer came and its status is 2xx.
func (a Answer) OK() bool { return a.Err == nil && a.Status/100 == 2 }

// String is the answer in a few words, for "the last answer was".
func (a Answer) String() string {
	if a.Err != nil {
		return fmt.Sprintf("%s: %v", a.what, a.Err)
	}
	body := strings.TrimSpace(string(a.Body))
	if body == "" {
		return fmt.Sprintf("%s: status %d", a.what, a.Status)
	}
	return fmt.Sprintf("%s: status %d, %s", a.what, a.Status, text.Shorten(body))
}

// Failure is the answer as a failure of its kind.
func (a Answer) Failure() *results.Failure {
	switch {
	case a.Err != nil:
		return results.Failf(results.FailConnect, "%s", a)
	case a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden:
		f := results.Failf(results.FailAuth, "%s: set api-key: to a key that the server accepts", a)
		f.HTTPStatus = a.Status
		return f
	}
	f := results.Failf(results.FailHTTP, "%s", a)
	f.HTTPStatus = a.Status
	return f
}

// Final returns the failure of an answer after which asking again is in vain,
// else nil.
func (a Answer) Final() *results.Failure {
	var authority x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case a.Err == nil && (a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden):
		return a.Failure()
	case errors.As(a.Err, &authority), errors.As(a.Err, &hostname), errors.As(a.Err, &invalid):
		return a.Failure()
	}
	return nil
}

func (p *prober) get(ctx context.Context, path string) Answer {
	return p.ask(ctx, http.MethodGet, path, nil, probeTime)
}

func (p *prober) post(ctx context.Context, path string, body any) Answer {
	return p.ask(ctx, http.MethodPost, path, body, probeTime)
}

// ask makes one request and reads the whole answer within limit.
func (p *prober) ask(ctx context.Context, method, path string, body any, limit time.Duration) Answer {
	ctx, cancel := awake.WithTimeout(ctx, limit)
	defer cancel()
	result := Answer{what: method + " " + p.redact.Text(p.shown+path)}
	response, err := p.send(ctx, method, path, body)
	if err != nil {
		result.Err = err
		return result
	}
	defer response.Body.Close()
	result.Status = response.StatusCode
	result.Body, result.Err = io.ReadAll(io.LimitReader(response.Body, maxBody))
	return result
}

// send makes one request; the caller closes the response's body.
func (p *prober) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var reader io.Reader
	var contentType string
	if body != nil {
		text, kind, err := encode(body)
		if err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		reader, contentType = bytes.NewReader(text), kind
	}
	request, err := http.NewRequestWithContext(ctx, method, p.base+path, reader)
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", contentType)
	}
	if p.key != "" {
		request.Header.Set("Authorization", "Bearer "+p.key)
	}
	for name, value := range p.header {
		if strings.EqualFold(name, "Host") {
			request.Host = value
			continue
		}
		request.Header.Set(name, value)
	}
	response, err := p.client.Do(request)
	if err != nil {
		return nil, bareError(err)
	}

	return response, nil
}

// Form is a request body with a WAV file, sent as multipart/form-data.
type Form struct {
	Fields map[string]any // texts
	WAV    []byte
}

// encode makes a request's body, and says of which type it is.
func encode(body any) (text []byte, contentType string, err error) {
	form, ok := body.(Form)
	if !ok {
		text, err = json.Marshal(body)
		return text, "application/json", err
	}

	var texts [][2]string
	for _, name := range slices.Sorted(maps.Keys(form.Fields)) {
		texts = append(texts, [2]string{name, fmt.Sprint(form.Fields[name])})
	}
	text, err = audio.Form(form.WAV, texts)
	return text, audio.FormType, err
}

// bareError drops the method and address that net/http puts before a cause.
func bareError(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// joinable is a base URL to which paths that begin with / are appended. People
// give addresses with and without the API's /v1 at their end.
func joinable(base string) string {
	base = strings.TrimRight(base, "/")
	return strings.TrimRight(strings.TrimSuffix(base, "/v1"), "/")
}

// WithoutPassword is the URL with its password masked; "base-url" if it cannot be parsed.
func WithoutPassword(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return "base-url"
	}
	return u.Redacted()
}
