package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/report/live"
	"github.com/benchrig/bench/results"
)

func variables(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func runningView() live.View {
	return live.View{
		Name: "night", RunID: "r1", State: live.RunActive, Counts: map[live.StepState]int{live.Done: 3},
		Live: &results.Live{
			RunForS: 12.5, Step: &results.StepRef{ID: "a_c8_r1", Variant: "a", Point: "c8", Repeat: 1},
			GPUs: []results.LiveGPU{{Index: 1, Name: "MI300X", PowerW: new(700.0)}},
		},
	}
}

func TestExporterSends(t *testing.T) {
	var bodies [][]byte
	var header http.Header
	var path string
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies, header, path = append(bodies, body), r.Header, r.URL.Path
	}))
	defer collector.Close()

	x, err := NewExporter("env", variables(otlpEndpoint, collector.URL+"/", otlpHeaders, "Authorization=Bearer%20abc"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the first export fails with it, the last one is sent
	x.Run(ctx, func() (live.View, error) { return runningView(), nil }, func(m string) { t.Errorf("told %q", m) })

	if len(bodies) != 1 || path != "/v1/metrics" || header.Get("Authorization") != "Bearer abc" ||
		header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d requests, path %q, headers %v", len(bodies), path, header)
	}
	var message struct {
		ResourceMetrics []struct {
			Resource     struct{ Attributes []otlpAttribute }
			ScopeMetrics []struct{ Metrics []otlpMetric }
		}
	}
	if err := json.Unmarshal(bodies[0], &message); err != nil {
		t.Fatal(err)
	}
	resource := message.ResourceMetrics[0]
	if a := resource.Resource.Attributes[0]; a.Key != "service.name" || a.Value.Text != "bench" {
		t.Errorf("resource %+v", a)
	}

	metrics := resource.ScopeMetrics[0].Metrics
	at := slices.IndexFunc(metrics, func(m otlpMetric) bool { return m.Name == "bench_gpu_power_watts" })
	if at < 0 {
		t.Fatalf("no power in %s", bodies[0])
	}
	p := metrics[at].Gauge.Points[0]
	var attributes []string
	for _, a := range p.Attributes {
		attributes = append(attributes, a.Key+"="+a.Value.Text)
	}
	want := []string{"scenario=night", "run_id=r1", "gpu=1", "name=MI300X"}
	if p.Value != 700 || len(p.AtNS) < 19 || !slices.Equal(attributes, want) || metrics[at].Description == "" {
		t.Errorf("point %+v", p)
	}
	if slices.ContainsFunc(metrics, func(m otlpMetric) bool { return m.Name == "bench_gpu_busy_ratio" }) {
		t.Error("what is not known is sent")
	}
}

// The same metrics go to Prometheus and to a collector.
func TestExporterHasAllMetrics(t *testing.T) {
	e := expositionOf(runningView())
	sent := string(otlpOf(e, time.Unix(1, 0)))
	known := 0
	for _, f := range e.families {
		if len(f.samples.ListMetricNames()) == 0 {
			continue
		}
		known++
		if len(f.points) != len(f.samples.ListMetricNames()) || !strings.Contains(sent, `"name":"`+f.name+`"`) {
			t.Errorf("%s: %d points, %d samples", f.name, len(f.points), len(f.samples.ListMetricNames()))
		}
	}
	if known < 5 {
		t.Errorf("%d families have samples", known)
	}
}

func TestExporterFails(t *testing.T) {
	answers := 0
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers++
		http.Redirect(w, r, "http://127.0.0.1:1/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer collector.Close()

	x, err := NewExporter(collector.URL, variables())
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	note := func(message string) { told = append(told, message) }
	for range 3 {
		x.export(t.Context(), func() (live.View, error) { return runningView(), nil }, note)
	}
	if answers != 3 || len(told) != 1 || !strings.Contains(told[0], "the collector answers 307") {
		t.Errorf("%d answers, told %q", answers, told)
	}

	x.export(t.Context(), func() (live.View, error) { return live.View{}, errors.New("no such run") }, note)
	if len(told) != 2 || !strings.Contains(told[1], "no such run") {
		t.Errorf("told %q", told)
	}
}

func TestNewExporterRefuses(t *testing.T) {
	for _, c := range []struct {
		endpoint string
		lookup   func(string) (string, bool)
		want     string
	}{
		{"env", variables(), "neither OTEL_EXPORTER_OTLP_METRICS_ENDPOINT nor OTEL_EXPORTER_OTLP_ENDPOINT is set"},
		{"localhost:4318", variables(), "--otlp is not the URL of a collector"},
		{"ftp://host", variables(), "--otlp is not the URL of a collector"},
		{"env", variables(otlpMetricsEndpoint, "nothing"), "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT is not the URL"},
		{"http://host", variables(otlpHeaders, "hunter22"), "want NAME=VALUE"},
		{"http://host", variables(otlpHeaders, "a=hunter22%0d%0ax: y"), "want NAME=VALUE"},
	} {
		_, err := NewExporter(c.endpoint, c.lookup)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%q: error %v, want %q without a secret", c.endpoint, err, c.want)
		}
	}
}

func TestExporterEndpoints(t *testing.T) {
	for _, c := range []struct{ endpoint, want string }{
		{"http://host:4318", "http://host:4318/v1/metrics"},
		{"https://host/otlp/v1/metrics", "https://host/otlp/v1/metrics"},
		{"env", "http://collector:4318/v1/metrics"},
	} {
		x, err := NewExporter(c.endpoint, variables(otlpEndpoint, "http://collector:4318"))
		if err != nil || x.endpoint.String() != c.want {
			t.Errorf("%q: %v, %v, want %q", c.endpoint, x, err, c.want)
		}
	}
}
