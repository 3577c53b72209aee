package load

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/benchrig/bench/load/dialect"
)

// targetURLs joins each base URL with the request path. A base URL that ends
// in the path, or in its first element ("/v1"), does not get it twice; a
// trailing "/v1" is dropped where a native API's own path follows, since those
// are never below it. Queries of both are kept.
func targetURLs(t Target) ([]*url.URL, error) {
	if len(t.BaseURLs) == 0 {
		return nil, errors.New("join request URL: no base URL given")
	}

	urls := make([]*url.URL, len(t.BaseURLs))
	for i, base := range t.BaseURLs {
		u, err := url.Parse(base)
		if err != nil {
			return nil, err
		}
		if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return nil, &url.Error{
				Op: "join request URL", URL: base,
				Err: errors.New("want http://HOST:PORT or https://HOST:PORT"),
			}
		}
		path, query, _ := strings.Cut(t.Path, "?")
		u.RawQuery = strings.Trim(u.RawQuery+"&"+query, "&")
		u.Fragment = ""
		joined, err := url.Parse(joinPath(u.EscapedPath(), path, isNative(t)))
		if err != nil {
			return nil, err
		}
		u.Path, u.RawPath = joined.Path, joined.RawPath
		urls[i] = u
	}

	return urls, nil
}

func joinPath(base, path string, native bool) string {
	base, path = strings.TrimRight(base, "/"), "/"+strings.TrimLeft(path, "/")
	switch first, _, deep := strings.Cut(path[1:], "/"); {
	case strings.HasSuffix(base, path):
		return base
	case native && strings.HasSuffix(base, "/v1"):
		base = strings.TrimSuffix(base, "/v1")
	case deep && strings.HasSuffix(base, "/"+first):
		path = path[1+len(first):]
	}
	return base + path
}

// isNative reports whether the path is that of an API which does not stand
// below /v1.
func isNative(t Target) bool {
	return !strings.HasPrefix(t.Path, "/v1/") && slices.ContainsFunc(dialect.APIs(), func(a dialect.API) bool {
		return a.Name == t.API && a.DefaultPath == t.Path
	})
}
