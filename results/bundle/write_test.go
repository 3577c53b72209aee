package bundle

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/results/store"
)

func TestWriteIsDeterministic(t *testing.T) {
	files := map[string]string{
		"scenario.yaml":               "schema: 1\n",
		"lives/01-a/server-0.log.zst": strings.Repeat("token hf_abcdefghijklmnop12\n", 1000),
	}
	dir := runFolder(t, true, files)
	first, _ := packed(t, dir, Options{Bench: "v1"})
	if err := os.Chtimes(filepath.Join(dir, "scenario.yaml"), mustStat(t, dir), mustStat(t, dir)); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "moved")
	if err := os.CopyFS(elsewhere, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	again, _ := packed(t, elsewhere, Options{Bench: "v1"})
	if !bytes.Equal(first, again) {
		t.Errorf("two bundles of one folder differ (%d and %d bytes)", len(first), len(again))
	}
}

func TestWriteSaysWhatItLeavesOut(t *testing.T) {
	dir := runFolder(t, false, map[string]string{
		"bench.log": "{}\n", "lives/01-a/server-0.log": "up\n", "steps/a_c1_r1/requests.jsonl.zst": "{}\n",
		"steps/a_c1_r1/block.txt": "x\n",
		"live.json":               "{}", ".report.md.tmp-123": "half",
	})
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	data, index := packed(t, dir, Options{WithoutLogs: true, WithoutRecords: true})
	want := []LeftOut{
		{"bench.log", "without logs"},
		{"link", "not a regular file"},
		{"lives/01-a/server-0.log", "without logs"},
		{"steps/a_c1_r1/requests.jsonl.zst", "without records"},
	}
	if diff := cmp.Diff(want, index.LeftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	wantNames := []string{"journal.jsonl", "manifest.json", "steps/a_c1_r1/block.txt", "steps/a_c1_r1/result.json"}
	if got := slices.Sorted(maps.Keys(unpacked(t, data))); !slices.Equal(got, wantNames) {
		t.Errorf("members = %q, want %q", got, wantNames)
	}
	if index.Finished {
		t.Error("Finished = true of a run that was killed")
	}
}

// What is planted must be in no member, in whatever form and file it stands.
func TestWriteTakesSecretsOut(t *testing.T) {
	key := "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nplantedKeyBody\n-----END RSA PRIVATE KEY-----\n"
	planted := []string{
		"hf_PlantedPlantedPlanted1", "sk-plantedplantedplanted2", "AKIAPLANTEDPLANTED22", "plantedbearer12345",
		"plantedpass3", "plantedKeyBody",
		"opensesame-1", "quiet value", `from"environ&ment`, "planted-webhook-99", "ghp_plantedplantedplanted77",
		"plantedyaml77",
	}
	dir := runFolder(t, true, map[string]string{
		"scenario.yaml": "schema: 1\nserver: {env: {MY_SECRET: plantedyaml77, HF_TOKEN: " +
			"\"${env:HF_TOKEN}\"}}\n",
		"plan.json": `{"lives":[{"argv":["x","--api-key","opensesame-1"]}]}` + "\n",
		"lives/01-a/server-0.log.zst": "args: api_key='opensesame-1' hf_PlantedPlantedPlanted1\n" +
			"quiet value was read\n" + key + "after\nhttps://bob:plantedpass3@host/x\n",
		"lives/01-a/command.txt": "HF_TOKEN='quiet value' vllm --api-key opensesame-1\n",
		"bench.log":              `{"header":"Authorization: Bearer plantedbearer12345","x":"sk-plantedplantedplanted2"}` + "\n",
		"report.html": "<p>from&#34;environ&amp;ment and AKIAPLANTEDPLANTED22 " +
			"https://hooks.slack.com/services/planted-webhook-99</p>\n",
		"steps/a_c1_r1/requests.jsonl.zst": `{"text":"from\"environ&ment ghp_plantedplantedplanted77"}` + "\n",
	})
	data, index := packed(t, dir, Options{Secrets: []string{`from"environ&ment`}})
	for name, text := range unpacked(t, data) {
		for _, secret := range planted {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds %q:\n%s", name, secret, text)
			}
		}
	}
	if log := unpacked(t, data)["lives/01-a/server-0.log.zst"]; !strings.HasSuffix(log,
		"***\nafter\nhttps://bob:***@host/x\n") {
		t.Errorf("the log is %q: what is not a secret must stay", log)
	}
	for _, want := range []Redaction{
		{"lives/01-a/server-0.log.zst", "private key", 1},
		{"lives/01-a/server-0.log.zst", "value of HF_TOKEN", 1},
		{"lives/01-a/server-0.log.zst", "password in a URL", 1},
		{"bench.log", "bearer token", 1},
		{"plan.json", "value of api-key", 1},
	} {
		if !slices.Contains(index.Redactions, want) {
			t.Errorf("redactions lack %v: %v", want, index.Redactions)
		}
	}
	for _, r := range index.Redactions {
		if strings.Contains(r.What, "planted") || strings.Contains(r.What, "sesame") {
			t.Errorf("redaction %v tells the secret", r)
		}
	}
	// the manifest agrees with the scenario as it is in the bundle
	out := t.TempDir()
	r, err := newReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Extract(t.Context(), out, func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	run, err := store.Read(out)
	if err != nil || len(run.Problems) != 0 {
		t.Errorf("Read of an unpacked bundle: %v, problems %q", err, run.Problems)
	}
}

// Text that only looks like secrets stays.
func TestWriteLeavesTheRestAlone(t *testing.T) {
	text := strings.Join([]string{
		`"max_tokens": 16, "total_output_tokens": 128, "tokenizer": "meta-llama/Llama-3.1-8B"`,
		`"secrets_in_file": false, "passwords-of_all": 1`, "Bearer authentication is off",
		"the token counts of task-force-of-the-long-name", "password protected", "HF_TOKEN=${env:HF_TOKEN}",
		`"api_key": null, "key": "output_throughput"`, "http://127.0.0.1:8000/v1/models?key=short", "API_KEY: \"***\"",
		"disk-usage-of-the-whole-night",
	}, "\n")
	data, index := packed(t, runFolder(t, true, map[string]string{"bench.log": text}), Options{})
	if got := unpacked(t, data)["bench.log"]; got != text {
		t.Errorf("bench.log = %q, want %q", got, text)
	}
	for _, r := range index.Redactions {
		if r.Name == "bench.log" {
			t.Errorf("redaction %v", r)
		}
	}
}

// A prompt that is changed is another prompt: the set is left out.
func TestWriteRefusesPromptsWithSecrets(t *testing.T) {
	_, index := packed(t, runFolder(t, true, map[string]string{
		"prompts/one.jsonl": `{"text":"password = hunter22 API_KEY=abcdef123"}` + "\n",
		"prompts/two.jsonl": `{"text":"my key is sk-plantedplantedplanted2"}` + "\n",
	}), Options{})
	want := []LeftOut{{"prompts/two.jsonl", "the prompts hold what looks like a key that begins with sk-"}}
	if diff := cmp.Diff(want, index.LeftOut); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

func TestWriteBoundsLogs(t *testing.T) {
	log := "begin\n" + strings.Repeat("x", 5000) + "\nend\n"
	for _, name := range []string{"lives/01-a/server-0.log.zst", "lives/01-a/server-0.log"} {
		data, index := packed(t, runFolder(t, true, map[string]string{name: log}), Options{MaxLog: 100})
		got := unpacked(t, data)[name]
		if !strings.HasPrefix(got, "begin\n") || !strings.HasSuffix(got, "\nend\n") || !strings.Contains(got,
			"bytes left out") || len(got) > 200 {
			t.Errorf("%s = %q", name, got)
		}
		if len(index.LeftOut) != 1 || !strings.HasPrefix(index.LeftOut[0].Why, "the middle") {
			t.Errorf("left out = %v", index.LeftOut)
		}
	}
}

func TestWriteAnonymizes(t *testing.T) {
	data, _ := packed(t, runFolder(t, true, map[string]string{
		"bench.log":        "/home/alice/models/x.gguf on zeus, zeus.example and zeusx; /Users/bob/y\n",
		"environment.json": `{"host":{"hostname":"zeus"}}`,
	}), Options{Anonymize: true})
	want := "/home/user/models/x.gguf on host, host.example and zeusx; /Users/user/y\n"
	if got := unpacked(t, data)["bench.log"]; got != want {
		t.Errorf("bench.log = %q, want %q", got, want)
	}
}

// Ordinary tools read the archive: every member has a plain name and mode.
func TestWriteMakesAnOrdinaryZip(t *testing.T) {
	data, index := packed(t, runFolder(t, true, nil), Options{})
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(archive.File), len(index.Members)+1; got != want {
		t.Errorf("%d members, want %d", got, want)
	}
	for _, f := range archive.File {
		if f.Mode() != 0o644 || f.Modified.Year() != 1980 {
			t.Errorf("%s: mode %v, date %v", f.Name, f.Mode(), f.Modified)
		}
	}
}

// A file that is damaged, or claims to have a terabyte, is left out; the others are packed.
func TestWriteLeavesDamagedFilesOut(t *testing.T) {
	dir := runFolder(t, true, map[string]string{"steps/a_c1_r1/block.txt": "x\n", "summary.csv": "y\n"})
	for name, text := range map[string]string{"requests.jsonl.zst": "garbage", "telemetry.jsonl.zst": "(\xb5/\xfdx"} {
		if err := os.WriteFile(filepath.Join(dir, "steps/a_c1_r1", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(dir, "summary.csv"), 1<<40); err != nil {
		t.Fatal(err)
	}
	data, index := packed(t, dir, Options{})
	var left []string
	for _, l := range index.LeftOut {
		left = append(left, l.Name)
	}
	if want := []string{
		"steps/a_c1_r1/requests.jsonl.zst", "steps/a_c1_r1/telemetry.jsonl.zst", "summary.csv",
	}; !slices.Equal(left, want) {
		t.Errorf("left out %q, want %q", index.LeftOut, want)
	}
	if unpacked(t, data)["steps/a_c1_r1/block.txt"] != "x\n" {
		t.Error("the step's other file is not packed")
	}
}

// A file that names thousands of secrets, such as the log of a server that wants the
// memory of bench, is left out; the others are packed.
func TestWriteLeavesOutFilesOfManySecrets(t *testing.T) {
	var log strings.Builder
	for i := range mostLearned + 1 {
		fmt.Fprintf(&log, "api_key=k%dQz7Xw9vB2abc\n", i*7919)
	}
	for _, name := range []string{"lives/01-a/server-0.log.zst", "lives/01-a/server-0.log"} {
		data, index := packed(t, runFolder(t, true, map[string]string{name: log.String()}), Options{})
		if len(index.LeftOut) != 1 || index.LeftOut[0].Name != name ||
			!strings.Contains(index.LeftOut[0].Why, "secrets") {
			t.Errorf("left out = %v, want %s", index.LeftOut, name)
		}
		if _, ok := unpacked(t, data)["manifest.json"]; !ok {
			t.Error("manifest.json is not packed")
		}
	}
}
