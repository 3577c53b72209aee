package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
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
