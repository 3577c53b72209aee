package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/report/live"
)

// The variables of OpenTelemetry that an Exporter follows.
const (
	otlpEndpoint        = "OTEL_EXPORTER_OTLP_ENDPOINT"
	otlpMetricsEndpoint = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
	otlpHeaders         = "OTEL_EXPORTER_OTLP_HEADERS"
)

const (
	otlpPath    = "/v1/metrics"
	otlpPeriod  = 10 * time.Second
	otlpTimeout = 10 * time.Second // of one export
)

// Exporter sends the metrics of a run to a collector of OpenTelemetry: OTLP over
// HTTP, in JSON. Whatever goes wrong is reported and changes nothing.
type Exporter struct {
	endpoint *url.URL
	headers  http.Header
	client   *http.Client
	last     string // the last message, which is not repeated
}

// NewExporter takes the URL of a collector, or "env" for the one that the variables
// of OpenTelemetry name. Their headers go with every request; they are secrets.
func NewExporter(endpoint string, lookup func(string) (string, bool)) (*Exporter, error) {
	from := "--otlp"
	if endpoint == "env" {
		var ok bool
		if endpoint, ok = lookup(otlpMetricsEndpoint); ok && endpoint != "" {
			from = otlpMetricsEndpoint
		} else if endpoint, ok = lookup(otlpEndpoint); ok && endpoint != "" {
			from, endpoint = otlpEndpoint, strings.TrimRight(endpoint, "/")+otlpPath
		} else {
			return nil, fmt.Errorf("--otlp env: neither %s nor %s is set", otlpMetricsEndpoint, otlpEndpoint)
		}
	}

	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s is not the URL of a collector: want http://HOST:4318", from)
	}
	if password, ok := u.User.Password(); ok {
		secrets.Remember(password)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = otlpPath
	}

	given, _ := lookup(otlpHeaders)
	headers, err := headersOf(given)
	if err != nil {
		return nil, err
	}
	return &Exporter{endpoint: u, headers: headers, client: &http.Client{
		Timeout:       otlpTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// headersOf reads "name=value,name=value", whose values are escaped as in URLs. An
// error does not quote them.
func headersOf(text string) (http.Header, error) {
	headers := http.Header{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		name = strings.TrimSpace(name)
		if !ok || err != nil || name == "" || strings.ContainsAny(name+value, "\r\n\x00") {
			return nil, errors.New(otlpHeaders +
				": want NAME=VALUE, separated by commas, with values escaped as in URLs")
		}
		secrets.Remember(value)
		headers.Add(name, value)
	}
	return headers, nil
}

// Run exports what look shows, every ten seconds and once more when ctx has ended.
// What goes wrong goes to told, the same message once.
func (x *Exporter) Run(ctx context.Context, look func() (live.View, error), told func(message string)) {
	ticker := time.NewTicker(otlpPeriod)
	defer ticker.Stop()

	for {
		x.export(ctx, look, told)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			x.export(context.WithoutCancel(ctx), look, told)
			return
		}
	}
}

// Start runs the export in the background. The function that it returns stops it after
// a last export, and gives what went wrong, up to twenty problems.
func (x *Exporter) Start(ctx context.Context, look func() (live.View, error)) (stop func() []string) {
	const mostProblems = 20
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	var problems []string
	go func() {
		defer close(done)
		x.Run(ctx, look, func(message string) {
			if len(problems) < mostProblems {
				problems = append(problems, message)
			}
		})
	}()

	return func() []string {
		cancel()
		<-done
		return problems
	}
}

func (x *Exporter) export(ctx context.Context, look func() (live.View, error), told func(message string)) {
	view, err := look()
	if err == nil {
		err = x.send(ctx, otlpOf(expositionOf(view), time.Now()))
	}

	message := ""
	if err != nil && ctx.Err() == nil {
		message = secrets.Known().Text(fmt.Sprintf("export to %s: %v", x.endpoint.Redacted(), err))
	}
	if message != x.last && message != "" {
		told(message)
	}
	x.last = message
}

func (x *Exporter) send(ctx context.Context, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, x.endpoint.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	maps.Copy(request.Header, x.headers)
	request.Header.Set("Content-Type", "application/json")

	response, err := x.client.Do(request)
	if err != nil {
		if cause, ok := errors.AsType[*url.Error](err); ok {
			err = cause.Err // the URL is in the message already
		}
		return err
	}
	defer func() { _ = response.Body.Close() }() // nothing more is wanted of it

	const most = 1 << 16
	_, _ = io.CopyN(io.Discard, response.Body, most) // so that the connection is used again
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("the collector answers %s", response.Status)
	}
	return nil
}

// The messages of OTLP that are sent, in its JSON encoding: 64-bit numbers are
// strings.
type (
	otlpAttribute struct {
		Key   string `json:"key"`
		Value struct {
			Text string `json:"stringValue"`
		} `json:"value"`
	}
	otlpPoint struct {
		Attributes []otlpAttribute `json:"attributes"`
		AtNS       string          `json:"timeUnixNano"`
		Value      float64         `json:"asDouble"`
	}
	otlpGauge struct {
		Points []otlpPoint `json:"dataPoints"`
	}
	otlpMetric struct {
		Name        string    `json:"name"`
		Description string    `json:"description"`
		Gauge       otlpGauge `json:"gauge"`
	}
)

// otlpOf are the metrics of an exposition. All are gauges: counters begin again
// with each pass, and quantiles have an attribute of that name.
func otlpOf(e *exposition, at time.Time) []byte {
	var all []otlpMetric
	stamp := strconv.FormatInt(at.UnixNano(), 10)
	for _, f := range e.families {
		m := otlpMetric{Name: f.name, Description: f.help}
		for _, p := range f.points {
			m.Gauge.Points = append(m.Gauge.Points, otlpPoint{attributesOf(p.labels), stamp, p.value})
		}
		if m.Gauge.Points != nil {
			all = append(all, m)
		}
	}

	type object = map[string]any
	body, err := json.Marshal(object{"resourceMetrics": []object{{
		"resource":     object{"attributes": attributesOf(labels{"service.name", "bench"})},
		"scopeMetrics": []object{{"scope": object{"name": "github.com/benchrig/bench"}, "metrics": all}},
	}}})
	if err != nil { // a value that JSON does not have
		return []byte("{}")
	}
	return body
}

func attributesOf(l labels) []otlpAttribute {
	var all []otlpAttribute
	for pair := range slices.Chunk(l, 2) {
		a := otlpAttribute{Key: pair[0]}
		a.Value.Text = strings.ToValidUTF8(pair[1], "\uFFFD")
		all = append(all, a)
	}
	return all
}
