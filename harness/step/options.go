package step

import (
	"crypto/tls"
	"maps"
	"slices"

	"github.com/benchrig/bench/internal/userfile"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// driveOptions is the load point as the client takes it, without arrivals.
// server says how the servers let requests in.
func driveOptions(l scenarios.Load, server scenarios.Server, servers []Server) (load.Options, error) {
	kindBody := map[string]any{}
	for _, s := range servers {
		kind, _ := engines.Lookup(s.Info().Launcher)
		maps.Copy(kindBody, kind.API.Body)
	}
	body := maps.Clone(kindBody)
	maps.Copy(body, l.Body)
	servers = takingRequests(servers)
	info := servers[0].Info()
	opts := load.Options{
		Settings: l.Settings,
		Target:   load.Target{Path: l.Endpoint, API: l.API, Model: info.Model, Headers: map[string]string{}},
	}

	opts.Body = body
	opts.Classes = classesOver(kindBody, l.Classes)
	for _, s := range servers {
		opts.Target.BaseURLs = append(opts.Target.BaseURLs, requestURLs(s)...)
	}

	if server.APIKey.Value != "" {
		opts.Target.Headers["Authorization"] = "Bearer " + server.APIKey.Value
	}

	opts.Target.UnixSocket = server.UnixSocket
	var err error
	if opts.Target.TLS, opts.Target.CA, err = TLSConfig(server.TLS.CA, server.TLS.Insecure); err != nil {
		return opts, err
	}

	for name, value := range l.Headers {
		spec.SetHeader(opts.Target.Headers, name, value.Value) // in place of the key too
	}

	return opts, nil
}

// classesOver are classes whose bodies have fields of the kinds of the servers
// beneath their own.
func classesOver(kindBody map[string]any, classes []spec.Class) []spec.Class {
	out := slices.Clone(classes)
	for i := range out {
		body := maps.Clone(kindBody)
		maps.Copy(body, out[i].Body)
		out[i].Body = body
	}
	return out
}

// takingRequests are the servers to which requests go: all but the inner parts of
// a server of several.
func takingRequests(servers []Server) []Server {
	return slices.DeleteFunc(slices.Clone(servers), func(s Server) bool { return s.Info().Inner })
}

// requestURLs are where requests to a server go. The address in its description is
// for readers: a password in it is hidden.
func requestURLs(s Server) []string {
	if urls := s.Abilities().URLs; urls != nil {
		return urls()
	}
	return []string{s.Info().BaseURL}
}

// Infos describes servers.
func Infos(servers []Server) []results.Server {
	out := make([]results.Server, len(servers))
	for i, s := range servers {
		out[i] = s.Info()
	}
	return out
}

// TLSConfig says which certificates to believe: those of the authorities in a
// PEM file, whose content is returned too, any with insecure, else those of the
// system's authorities (nil).
func TLSConfig(ca string, insecure bool) (config *tls.Config, authorities []byte, err error) {
	if ca != "" && !insecure {
		if authorities, err = userfile.Read(ca, userfile.MaxText); err != nil {
			return nil, nil, results.Failf(results.FailBadRecipe, "read tls.ca: %v", err)
		}
	}
	config, ok := load.Trust(authorities, insecure)
	if !ok {
		return nil, nil, results.Failf(results.FailBadRecipe, "read tls.ca %s: no PEM certificate in it", ca)
	}
	return config, authorities, nil
}
