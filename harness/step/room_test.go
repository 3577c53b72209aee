package step

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/dataset"
	"github.com/benchrig/bench/load"
	"github.com/benchrig/bench/load/spec"
	"github.com/benchrig/bench/results"
)

// sixtyFour are prompts of which 36 are short (37.2 tokens and answers of 163.1
// on average, 1339 tokens of prompts together) and 28 long (588.2).
func sixtyFour() []load.Prompt {
	var prompts []load.Prompt
	for i := range 36 {
		p := load.Prompt{Text: "a", InputTokens: 37, OutputTokens: 163}
		if i < 7 {
			p.InputTokens = 38
		}
		prompts = append(prompts, p)
	}
	for i := range 28 {
		p := load.Prompt{Text: "a", InputTokens: 588, OutputTokens: 200}
		if i < 6 {
			p.InputTokens = 589
		}
		prompts = append(prompts, p)
	}
	return prompts
}

// infoServer is a server that only says what it is.
type infoServer struct {
	Server
	info results.Server
}

func (s infoServer) Info() results.Server { return s.info }

func TestPreflight(t *testing.T) {
	server := func(launcher string, context, slots int64, argv ...string) results.Server {
		s := results.Server{Launcher: launcher, Argv: argv, Startup: &results.Startup{}}
		if context > 0 {
			s.Startup.ContextLen = &context
		}
		if slots > 0 {
			s.Startup.Slots = &slots
		}
		return s
	}
	even := func(n, input, output int) []load.Prompt {
		prompts := make([]load.Prompt, n)
		for i := range prompts {
			prompts[i] = load.Prompt{Text: "a", InputTokens: input, OutputTokens: output}
		}
		return prompts
	}
	twice := func(s results.Server) []results.Server { return []results.Server{s, s} }
	for _, c := range []struct {
		name        string
		servers     []results.Server
		prompts     []load.Prompt
		concurrency int
		want        []string
		refused     string
	}{
		{
			"36 of 64 fit 16 slots of 4096 tokens",
			[]results.Server{server("llamacpp", 256, 16, "llama-server", "-c", "4096", "-np", "16")},
			sixtyFour(), 16,
			[]string{"context-too-small: 28 of 64 prompts need more than the 256 tokens of a slot (4096 over 16 " +
				"slots); raise ctx-size to at least 12624"},
			"",
		},
		{
			"the same, of which only the slot is known",
			[]results.Server{server("external", 256, 16)},
			sixtyFour(), 16,
			[]string{
				"context-too-small: 28 of 64 prompts need more than the 256 tokens that the server takes for a " +
					"request; " +
					"start it with room for 789",
			},
			"",
		},
		{
			"they fit a larger one",
			[]results.Server{server("llamacpp", 1024, 16, "llama-server", "-c", "16384")},
			sixtyFour(), 16, nil, "",
		},
		{"vllm", []results.Server{server("vllm", 600, 0)}, sixtyFour(), 8, []string{
			"context-too-small: 28 of 64 prompts need more than the 600 tokens that the server takes for a request; " +
				"raise max-model-len to at least 789",
		}, ""},
		{"exactly", []results.Server{server("vllm", 200, 0)}, even(4, 100, 100), 1, nil, ""},
		{
			"none",
			[]results.Server{server("vllm", 199, 0)},
			even(4, 100, 100), 1, nil,
			"none of 4 prompts fits: the shortest needs 200 tokens with its answer, but there are the 199 " +
				"tokens that the server takes for a request; raise max-model-len to at least 200",
		},
		{"the server decides on the answer", []results.Server{server("vllm", 101, 0)}, even(4, 100, 0), 1, nil, ""},
		{"lengths are not known", []results.Server{server("vllm", 10, 0)}, []load.Prompt{
			{Text: "a"},
			{Text: "b", InputTokens: 100},
		}, 1, nil, ""},
		{"token ids are", []results.Server{server("vllm", 2, 0)}, []load.Prompt{
			{TokenIDs: []int{1}},
			{TokenIDs: []int{1, 2}},
		}, 1, []string{
			"context-too-small: 1 of 2 prompts need more than the 2 tokens that the server takes for a request; " +
				"raise max-model-len to at least 3",
		}, ""},
		{"nothing is told", []results.Server{{Launcher: "vllm"}}, even(4, 100, 100), 1, nil, ""},
		{"few slots", []results.Server{server("llamacpp", 512, 4)}, even(16, 100, 100), 16, []string{
			"few-slots: 16 requests at once are sent to a server that processes 4: the others wait in its queue, and " +
				"their time to first token includes that wait",
		}, ""},
		{
			"few slots by the recipe alone",
			[]results.Server{server("vllm", 512, 0, "vllm", "serve", "m", "--max-num-seqs", "4")},
			even(8, 100, 100), 8,
			[]string{
				"few-slots: 8 requests at once are sent to a server that processes 4: the others wait in its queue, and " +
					"their time to first token includes that wait",
			},
			"",
		},
		{
			"slots of two engines",
			[]results.Server{server("vllm", 512, 4, "vllm", "serve", "m", "--data-parallel-size", "2")},
			even(8, 100, 100), 8, nil, "",
		},
		{
			"few slots of two engines",
			[]results.Server{server("vllm", 512, 0, "vllm", "serve", "m", "--max_num_seqs", "3", "-dp", "2")},
			even(8, 100, 100), 8,
			[]string{
				"few-slots: 8 requests at once are sent to a server that processes 6: the others wait in its queue, and " +
					"their time to first token includes that wait",
			},
			"",
		},
		{"of two servers", twice(server("llamacpp", 512, 8)), even(16, 100, 100), 16, nil, ""},
		{"at times of their own", []results.Server{server("llamacpp", 512, 8)}, even(9, 100, 100), 0, nil, ""},
		{"all at once", []results.Server{server("llamacpp", 512, 8)}, even(9, 100, 100), 9, []string{
			"few-slots: 9 requests at once are sent to a server that processes 8: the others wait in its queue, and " +
				"their time to first token includes that wait",
		}, ""},
		{"a context for all slots", []results.Server{server("llamacpp", 4096, 16, "llama-server", "--ctx-size", "4096",
			"--kv-unified")}, even(32, 250, 250), 16, []string{
			"context-too-small: 16 requests at once may need 8000 tokens, and share 4096: where they run out, " +
				"requests fail; raise ctx-size to at least 8000",
		}, ""},
		{
			"which suffices",
			[]results.Server{server("llamacpp", 4096, 16, "llama-server", "--ctx-size", "4096")},
			even(32, 100, 100), 16, nil, "",
		},
		{
			"the smaller of two servers counts",
			[]results.Server{server("vllm", 1000, 0), server("vllm", 150, 0)},
			append(even(1, 100, 100), even(1, 10, 10)...), 1,
			[]string{
				"context-too-small: 1 of 2 prompts need more than the 150 tokens that the server takes for a request; " +
					"raise max-model-len to at least 200",
			},
			"",
		},
	} {
		var servers []Server
		for _, info := range c.servers {
			servers = append(servers, infoServer{info: info})
		}
		var result results.Result
		err := preflight(servers, c.prompts, c.concurrency, &result)
		var got []string
		for _, w := range result.Warnings {
			got = append(got, string(w.Code)+": "+w.Message)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: warnings: (-want +got)\n%s", c.name, diff)
		}
		failure, _ := errors.AsType[*results.Failure](err)
		switch {
		case c.refused == "" && err != nil:
			t.Errorf("%s: preflight: %v, want nothing refused", c.name, err)
		case c.refused != "" && (failure == nil || failure.Class != results.FailContext ||
			failure.Message != c.refused):
			t.Errorf("%s: preflight: %v, want %s: %s", c.name, err, results.FailContext, c.refused)
		}
	}
}

func TestAtOnce(t *testing.T) {
	untimed := &dataset.Set{Prompts: make([]dataset.Prompt, 5)}
	timed := &dataset.Set{Prompts: []dataset.Prompt{{At: new(0.0)}, {At: new(9.0)}}}
	inf := math.Inf(1)
	for _, tt := range []struct {
		name        string
		schedule    Schedule
		concurrency int
		set         *dataset.Set
		want        int
	}{
		{"no limit", Schedule{Rate: inf}, 0, untimed, 5},
		{"a limit", Schedule{Rate: inf}, 3, untimed, 3},
		{"fewer prompts than the limit", Schedule{Rate: inf}, 64, untimed, 5},
		{"prompts that are repeated", Schedule{Rate: inf, Duration: time.Minute}, 64, untimed, 64},
		{"a rate", Schedule{Rate: 2}, 0, untimed, 0},
		{"a rate and a limit", Schedule{Rate: 2}, 3, untimed, 0},
		{"a ramp", Schedule{Rate: inf, Ramp: spec.Ramp{Strategy: "linear"}}, 0, untimed, 0},
		{"a trace", Schedule{Rate: inf}, 0, timed, 0},
		{"a trace whose times do not count", Schedule{Rate: inf, NoReplay: true}, 0, timed, 2},
	} {
		if got := atOnce(tt.schedule, tt.concurrency, tt.set); got != tt.want {
			t.Errorf("%s: %d at once, want %d", tt.name, got, tt.want)
		}
	}
}

// What was under way at once decides where requests came at their own times.
func TestCheckSlots(t *testing.T) {
	server := infoServer{info: results.Server{
		Launcher: "vllm", Argv: []string{"vllm", "serve", "m", "--max-num-seqs", "4"},
	}}
	const waits = ": the others wait in its queue, and their time to first token includes that wait"
	for _, tt := range []struct {
		servers []Server
		peak    int
		want    string
	}{
		{[]Server{server}, 4, ""},
		{[]Server{server}, 5, "up to 5 requests were in flight at once at a server that processes 4" + waits},
		{[]Server{server, server}, 8, ""},
		{[]Server{server, server}, 9, "up to 9 requests were in flight at once at servers that process 4 each" + waits},
		{[]Server{infoServer{info: results.Server{Launcher: "vllm"}}}, 5000, ""},
	} {
		var result results.Result
		checkSlots(tt.servers, tt.peak, &result)
		checkSlots(tt.servers, tt.peak, &result) // once
		var got string
		for _, w := range result.Warnings {
			got += w.Message
		}
		if got != tt.want {
			t.Errorf("%d at once: %q, want %q", tt.peak, got, tt.want)
		}
	}
}
