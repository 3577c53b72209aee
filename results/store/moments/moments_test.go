package moments

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

// whatMomentsTell leaves of a record what Read promises.
func whatMomentsTell(r results.Record) results.Record {
	return results.Record{
		Index: r.Index, Replica: r.Replica, IntendedS: r.IntendedS, SentS: r.SentS, HeaderS: r.HeaderS,
		DoneS: r.DoneS, EndS: r.EndS,
		ChunkS: append([]float64(nil), r.ChunkS...), ChunkKinds: r.ChunkKinds, AskedOutputTokens: r.AskedOutputTokens,
		LocalInputTokens: r.LocalInputTokens, InputTokens: r.InputTokens, OutputTokens: r.OutputTokens,
		CachedTokens: r.CachedTokens, Failure: r.Failure,
	}
}

// momentsOf reads lines as Read does; errors are text.
func momentsOf(lines string) []string {
	var all []string
	decode(strings.NewReader(lines), 1000, func(r *results.Record, err error) bool {
		all = append(all, told(r, err))
		return true
	})
	return all
}

func told(r *results.Record, err error) string {
	if err != nil {
		line, _, _ := strings.Cut(err.Error(), ": in") // json's own words differ by type
		return strings.Join(strings.SplitN(line, ":", 3)[:2], ":")
	}
	text, _ := json.Marshal(whatMomentsTell(*r))
	return string(text)
}

func recordsOf(t *testing.T, lines string) []string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, results.RequestsName), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}

	var all []string
	for r, err := range store.ReadRecords(dir) {
		all = append(all, told(&r, err))
	}
	return all
}

func TestMomentsAreThoseOfTheRecords(t *testing.T) {
	full, err := json.Marshal(results.Record{
		Index: 3, RequestID: "bench-3", Replica: 1, IntendedS: 0.25, SentS: new(0.250000001), HeaderS: new(0.3),
		DoneS: new(2.5), EndS: 2.5,
		ChunkS: []float64{0.5, 1e-7, 123456.123456789, 1234567.1234567891, 2.5}, ChunkKinds: "rtttu",
		AskedOutputTokens: 3, LocalInputTokens: new(7), InputTokens: new(8),
		OutputTokens: new(3), OutputTokensSource: results.CountUsage, FinishReason: "length", Text: "naïve \"text\"",
		TextSHA256: "00",
	})
	if err != nil {
		t.Fatal(err)
	}
	failed, err := json.Marshal(results.Record{
		Index: 4, Failure: results.Failf(results.FailConnect, "refused"),
		VLLMReading: map[results.Generation]results.ClientReading{results.VLLM: {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, lines := range []string{
		string(full) + "\n" + string(failed) + "\n" + string(full) + "\n",
		string(full) + "\n" + string(full[:len(full)/2]), // cut by a kill
		"{\"index\":1}\n{\"index\":0,\"probe\":true,\"end_s\":1}\n{\"index\":2}\n",
		"{}\n\n{\"index\":1}\n",
		"{\"index\":1,\"chunk_s\":[],\"sent_s\":null}\n{\"index\":2,\"chunk_s\":null}\n",
		"{\"index\": 1 , \"end_s\" : 1e3}\nnothing\n{\"index\":01}\n{\"end_s\":-0.5,\"index\":-2}\n",
		"{\"index\":1,\"request_id\":\"" + strings.Repeat("x", 300<<10) + "\"}\n{\"index\":2}\n",
	} {
		if diff := cmp.Diff(recordsOf(t, lines), momentsOf(lines)); diff != "" {
			t.Errorf("moments of %.200q (-records +moments):\n%s", lines, diff)
		}
	}
}

func FuzzMoments(f *testing.F) {
	for _, chunk := range []string{"0.1", "1e5", "-3", "123456789.123456789", "0.000000001"} {
		f.Add([]byte(fmt.Sprintf(
			`{"index":1,"end_s":%s,"chunk_s":[%s,2],"chunk_kinds":"tt","output_tokens":2,"failure":null}`,
			chunk, chunk)))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var want results.Record
		if bytes.ContainsAny(line, "\n") || json.Unmarshal(line, &want) != nil || want.Probe {
			return // what is damaged may be read either way, and probes are left out
		}
		if diff := cmp.Diff([]string{told(&want, nil)}, momentsOf(string(line)+"\n")); diff != "" {
			t.Errorf("moments of %q (-record +moments):\n%s", line, diff)
		}
	})
}
