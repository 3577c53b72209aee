package session

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

func TestWaitToStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		moment := func(d time.Duration) scenarios.Moment {
			m, err := scenarios.ParseMoment(began.Add(d).Format(time.RFC3339))
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		var out bytes.Buffer

		sc := &scenarios.Scenario{StartAt: moment(-time.Hour)}
		if err := WaitToStart(t.Context(), &out, sc); err != nil || time.Since(began) > 0 || out.Len() > 0 {
			t.Errorf("a moment that is over: waited %s, %v, said %q", time.Since(began), err, out.String())
		}

		sc.StartAt = moment(2 * time.Hour)
		if err := WaitToStart(t.Context(), &out, sc); err != nil || time.Since(began) != 2*time.Hour ||
			!strings.Contains(out.String(), "waiting for start-at: ") {
			t.Errorf("in two hours: waited %s, %v, said %q", time.Since(began), err, out.String())
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var failure *results.Failure
		sc.StartAt = moment(5 * time.Hour)
		if err := WaitToStart(ctx, &out, sc); !errors.As(err, &failure) {
			t.Errorf("a wait that is ended: %v, want why", err)
		}
	})
}

// An address of a notification in the clear is in no file, and a run continues
// without it; other secrets must be given again.
func TestWebhooksInClear(t *testing.T) {
	const address = "https://hooks.example.org/T0/sesame"
	sc := &scenarios.Scenario{
		Notify:  []scenarios.Notify{{Webhook: scenarios.EnvValue{Value: address, Secret: true}}},
		Secrets: []string{address, "sw0rdf1sh-and-more"},
		Source:  []byte("notify: [{webhook: " + address + "}]\n"),
	}
	if SecretsInClear(sc) || !WebhooksInClear(sc) {
		t.Error("the address counts as a secret without which the run cannot go on")
	}
	if got, want := hider(sc)(string(sc.Source)), "notify: [{webhook: "+hiddenWebhook+"}]\n"; got != want {
		t.Errorf("hidden source = %q, want %q", got, want)
	}

	sc.Sets = []string{"server.api-key=sw0rdf1sh-and-more"}
	if !SecretsInClear(sc) {
		t.Error("a key in an override is not seen")
	}
	sc.Sets, sc.Source = []string{"notify.0.webhook=" + address}, nil
	if SecretsInClear(sc) || !WebhooksInClear(sc) {
		t.Error("an address in an override is not seen as one")
	}
}
