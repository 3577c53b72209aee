package hooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/awake"
	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/scenarios"
)

// call makes one request. Only a 2xx answer is success: a redirect is not
// followed, so that no secret header goes where the scenario did not say.
func call(ctx context.Context, c scenarios.HTTPCall, limit time.Duration) (string, error) {
	ctx, cancel := awake.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %s", limit))
	defer cancel()
	method := c.Method
	if method == "" {
		method = http.MethodGet
	}
	request, err := http.NewRequestWithContext(ctx, method, c.URL, strings.NewReader(c.Body))
	if err != nil {
		return "", errors.New("the address cannot be called")
	}
	for name, value := range c.Headers {
		request.Header.Set(name, value.Value)
	}
	client := &http.Client{
		Transport:     &http.Transport{Proxy: nil, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(request)
	if err != nil {
		return "", withoutURL(ctx, err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(answer.Body, keptBytes)) // what is missing of an error's text is not an error
	if answer.StatusCode/100 != 2 {
		return lastLines(secrets.Known().Part(string(body))), fmt.Errorf("answer %s", answer.Status)
	}

	return "answer " + answer.Status, nil
}

// withoutURL drops the address from an error: it may be a secret.
func withoutURL(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if inner, ok := errors.AsType[*url.Error](err); ok {
		return inner.Err
	}
	return err
}
