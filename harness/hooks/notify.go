package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/scenarios"
)

// notifyTimeout bounds a notification: it must not hold up a run.
const notifyTimeout = 10 * time.Second

// The moments of a notification.
const (
	NotifyEnd          = "end"
	NotifyFirstFailure = "first-failure"
)

// Message is the content of a notification. As JSON it is the body of a webhook
// of format json, and part of what users rely on.
type Message struct {
	Event    string  `json:"event"` // NotifyEnd, NotifyFirstFailure
	Title    string  `json:"title"` // one line that says it
	Text     string  `json:"text"`  // the same in a few lines
	Scenario string  `json:"scenario"`
	Run      string  `json:"run_id"`
	Host     string  `json:"host"`
	Folder   string  `json:"folder"` // with the results, on that host
	OK       int     `json:"ok"`     // steps by verdict so far
	Suspect  int     `json:"suspect"`
	Failed   int     `json:"failed"`
	NotRun   int     `json:"not_run"`
	Planned  int     `json:"planned"`
	Step     string  `json:"step"`   // that failed first; "" at the end
	Reason   string  `json:"reason"` // of the failure, or why the run ended early; "": neither
	TookS    float64 `json:"took_s"` // since the run began

	Best   []string `json:"best"`   // of an end: the fastest variants, one line each
	Causes []string `json:"causes"` // of an end: why steps have no figures, one line for each class
}

// Notify sends a notification. A failure is in the record, and nowhere else. It
// works after ctx has ended.
func (r *Runner) Notify(ctx context.Context, n scenarios.Notify, m Message) results.HookRecord {
	ctx = context.WithoutCancel(ctx)
	m = r.complete(m)
	var record results.HookRecord
	if len(n.Command) > 0 {
		record = r.timed(n.Command[0], func() (string, error) {
			vars := map[string]string{
				"BENCH_EVENT": m.Event, "BENCH_TITLE": m.Title, "BENCH_SCENARIO": m.Scenario, "BENCH_RUN_ID": m.Run,
				"BENCH_RUN_DIR": m.Folder,
				"BENCH_STEP":    m.Step, "BENCH_REASON": m.Reason,
			}
			return r.command(ctx, command{
				argv: n.Command, vars: vars, stdin: m.Title + "\n\n" + m.Text + "\n",
				limit: notifyTimeout,
			})
		})
	} else {
		record = r.timed(n.Format+" webhook", func() (string, error) {
			request, err := webhook(n, m)
			if err != nil {
				return "", err
			}
			return call(ctx, request, notifyTimeout)
		})
	}

	record.Level, record.When = "run", "notify"
	return record
}

// classOf is " (deadline)" of "deadline: no time"; "" of a text without a class.
func classOf(why string) string {
	class, _, found := strings.Cut(why, ": ")
	if !found || strings.Contains(class, " ") {
		return ""
	}
	return " (" + class + ")"
}

// complete gives a message its texts, without secrets.
func (r *Runner) complete(m Message) Message {
	m.Reason, m.Step, m.Folder = r.redact(m.Reason), r.redact(m.Step), r.redact(m.Folder)
	counts := fmt.Sprintf("%d ok, %d suspect, %d failed, %d not run of %s", m.OK, m.Suspect, m.Failed, m.NotRun,
		text.Count(m.Planned, "step"))
	switch {
	case m.Event == NotifyFirstFailure:
		m.Title = fmt.Sprintf("bench %s: step %s failed%s", m.Scenario, m.Step, classOf(m.Reason))
	case m.Reason != "":
		m.Title = fmt.Sprintf("bench %s: ended early%s", m.Scenario, classOf(m.Reason))
	case m.Failed+m.NotRun > 0:
		m.Title = fmt.Sprintf("bench %s: finished with %d failed, %d not run", m.Scenario, m.Failed, m.NotRun)
		if len(m.Causes) > 0 {
			_, why, _ := strings.Cut(m.Causes[0], ": ") // "16 steps: deadline: ..."
			m.Title += classOf(why)
		}
	default:
		m.Title = fmt.Sprintf("bench %s: finished", m.Scenario)
	}

	lines := append([]string{counts}, m.Best...)
	for i, line := range m.Causes {
		m.Causes[i] = r.redact(line)
		lines = append(lines, m.Causes[i])
	}
	if m.Reason != "" {
		lines = append(lines, m.Reason)
	}

	lines = append(lines, fmt.Sprintf("after %s on %s: %s", (time.Duration(m.TookS)*time.Second).String(), m.Host,
		m.Folder))
	m.Text = strings.Join(lines, "\n")
	return m
}

// bad reports whether somebody should look.
func (m Message) bad() bool { return m.Reason != "" || m.Failed+m.NotRun > 0 }

// webhook is the request that a notification becomes.
func webhook(n scenarios.Notify, m Message) (scenarios.HTTPCall, error) {
	c := scenarios.HTTPCall{Method: "POST", URL: n.Webhook.Value, Headers: map[string]scenarios.EnvValue{}}
	set := func(name, value string) { c.Headers[name] = scenarios.EnvValue{Value: value} }
	if n.Format == "ntfy" {
		c.Body = m.Text
		set("Title", m.Title)
		set("Priority", "default")
		if m.bad() {
			set("Priority", "high")
		}
		return c, nil
	}

	set("Content-Type", "application/json")
	var body any = m
	if n.Format == "slack" {
		body = map[string]string{"text": "*" + m.Title + "*\n" + m.Text}
	}

	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(body)
	c.Body = strings.TrimSpace(out.String())
	return c, err
}
