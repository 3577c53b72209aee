package ready

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/benchrig/bench/internal/sleep"
	"github.com/benchrig/bench/launchers/endpoint"
	"github.com/benchrig/bench/launchers/recipe"
	"github.com/benchrig/bench/results"
)

// deathNotice is how long it may take until the death of an engine that has answered
// is known. One that closed the connection without an answer is most likely dead, and
// on a busy machine its end takes longer.
const (
	deathNotice  = 550 * time.Millisecond
	cutOffNotice = 30 * time.Second
)

// smokeBody is what is kept of the answer, in bytes.
const smokeBody = 1 << 10

// Smoke sends the request and keeps the answer. Nil: it succeeded, or none was
// asked for. Where the server's log says why it failed, that is the failure.
func (r *Progress) Smoke(ctx context.Context, e *endpoint.Endpoint, smoke recipe.Smoke) (*results.SmokeAnswer,
	*results.Failure,
) {
	if smoke.Path == "" {
		return nil, nil
	}

	r.setStage("the smoke request (" + smoke.Path + ")")

	began := time.Now()
	a := e.Ask(ctx, http.MethodPost, smoke.Path, smoke.Body, endpoint.TokenTime)
	answer := &results.SmokeAnswer{
		Path: smoke.Path, Status: a.Status, Body: endpoint.Beginning(a.Body,
			smokeBody), TookS: time.Since(began).Seconds(),
	}

	why := endpoint.CompletionTrouble(a)
	if why == "" && ctx.Err() == nil {
		r.pass("smoke")
		return answer, nil
	}

	failure := results.Failf(results.FailSmoke, "%s", cmp.Or(why, "ended: "+fmt.Sprint(context.Cause(ctx))))
	failure.HTTPStatus = a.Status
	return answer, r.smokeCause(ctx, failure)
}

// smokeCause waits a moment for the log's last words: a request that kills its
// engine ends before the engine is known to be dead.
func (r *Progress) smokeCause(ctx context.Context, failure *results.Failure) *results.Failure {
	notice := deathNotice
	if failure.HTTPStatus == 0 {
		notice = cutOffNotice
	}
	if sleep.For(ctx, notice) {
		return failure
	}

	cause, known := errors.AsType[*results.Failure](context.Cause(ctx))
	if !known {
		return r.giveUp(ctx, failure.Message)
	}

	combined := *cause
	combined.Message += "; at the smoke request: " + failure.Message
	return &combined
}
