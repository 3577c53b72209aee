package load

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/load/dialect"
)

// TestNativeStreams replays answers of the native APIs, recorded or made after
// their servers' words, split over packets in several ways.
func TestNativeStreams(t *testing.T) {
	replayFolder(t, "testdata/native", false)
}

// TestWholeAnswers replays answers that were not streamed.
func TestWholeAnswers(t *testing.T) {
	replayFolder(t, "testdata/whole", true)
}

// replayFolder replays files named API--NAME.http and compares what was
// understood with a golden file.
func replayFolder(t *testing.T, dir string, noStream bool) {
	t.Helper()
	paths, err := filepath.Glob(dir + "/*.http")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no answers in %s: %v", dir, err)
	}
	var all strings.Builder
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".http")
		api, _, _ := strings.Cut(name, "--")
		t.Run(name, func(t *testing.T) {
			header, body := loadtest.Capture(t, path)
			want := ""
			for _, split := range loadtest.Splitters() {
				if len(body) > split.Most {
					continue
				}
				r := replay(t, header, body, split, func(o *Options) { o.Target.API, o.NoStream = api, noStream })
				got := describeRecord(r)
				if want == "" {
					want = got
					fmt.Fprintf(&all, "%s\n%s", name, got)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: differs from all at once:\n%s", split.Name, diff)
				}
				if (r.DoneS != nil) != (strings.Contains(string(body), "[DONE]") && !noStream && r.Failure == nil) {
					t.Errorf("done_s is %v", r.DoneS)
				}
			}
		})
	}
	golden(t, dir+".golden", all.String())
}

// TestAPIs: each API says what it can do, and its dialect holds to that.
func TestAPIs(t *testing.T) {
	for _, api := range dialect.APIs() {
		o := Options{Target: Target{API: api.Name, Model: "m"}}
		try := func(p dialect.Prompt, can bool, what string) {
			if _, err := api.Encode(o.common(), dialect.Ask{Prompt: p}); (err == nil) != can {
				t.Errorf("%s: encoding %s gives error %v, but the API says it can: %v", api.Name, what, err, can)
			}
		}
		ranks := api.Name == "rerank" || api.Name == "score"
		try(dialect.Prompt{Text: "a"}, !ranks && !api.Audio, "text")
		try(dialect.Prompt{Audio: []byte("RIFF")}, api.Audio, "audio")
		try(dialect.Prompt{Text: "a", Audio: []byte("RIFF")}, false, "audio with text")
		try(dialect.Prompt{Text: "a", Texts: []string{"b"}}, api.Numbers, "several texts")
		try(dialect.Prompt{TokenIDs: []int{1}}, api.TokenIDs, "token ids")
		try(dialect.Prompt{Text: "a", Images: []string{"data:image/png;base64,QQ=="}}, api.Images, "images")
		try(dialect.Prompt{Text: "a", Turns: []dialect.Turn{{Text: "b"}}}, !api.Numbers && !api.Audio, "turns")
		try(dialect.Prompt{Text: "a", Turns: []dialect.Turn{{}}}, false, "an empty turn")
		try(dialect.Prompt{TokenIDs: []int{1}, Turns: []dialect.Turn{{Text: "b"}}}, false, "turns after token ids")
		o.IgnoreEOS = true
		body, err := api.Encode(o.common(), dialect.Ask{Prompt: dialect.Prompt{Text: "a"}})
		if ranks || api.Audio {
			continue
		}
		if err != nil || strings.Contains(string(body.Body), `"ignore_eos":true`) != api.IgnoreEOS {
			t.Errorf("%s: body %s, %v, but IgnoreEOS is %v", api.Name, body.Body, err, api.IgnoreEOS)
		}
		if api.Lines != strings.HasPrefix(api.Name, "ollama") || !strings.HasPrefix(api.DefaultPath, "/") {
			t.Errorf("%+v", api)
		}
	}
}
