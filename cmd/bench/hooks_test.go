package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/benchrig/bench/gpu"
	"github.com/benchrig/bench/scenarios"
)

// webhook FILE starts a server that answers every POST with 204 and writes its
// headers and body to FILE. Its address is $WEBHOOK from then on.
func webhook(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: webhook FILE")
	}
	path := ts.MkAbs(args[0])
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer file.Close()
		fmt.Fprintf(file, "%s %s title=%q priority=%q\n", req.Method, req.URL.Path, req.Header.Get("Title"),
			req.Header.Get("Priority"))
		_, _ = io.Copy(file, req.Body)
		fmt.Fprintln(file)
		w.WriteHeader(http.StatusNoContent)
	}))
	ts.Defer(server.Close)
	ts.Setenv("WEBHOOK", server.URL)
}

// Scenarios name samplers and failure classes without importing the packages
// that have them.
func TestScenarioNamesAreKnown(t *testing.T) {
	want := append(gpu.SamplerNames(), "auto")
	got := scenarios.Samplers()
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
		t.Errorf("scenarios.Samplers (-package gpu +scenarios):\n%s", diff)
	}
	source, err := os.ReadFile("../../results/verdict.go")
	if err != nil {
		t.Fatal(err)
	}
	var classes []string
	for _, m := range regexp.MustCompile(`FailureClass = "([a-z0-9-]+)"`).FindAllStringSubmatch(string(source), -1) {
		classes = append(classes, m[1])
	}
	slices.Sort(classes)
	if diff := cmp.Diff(classes, scenarios.FailureClasses()); diff != "" {
		t.Errorf("scenarios.FailureClasses (-package results +scenarios):\n%s", diff)
	}
}
