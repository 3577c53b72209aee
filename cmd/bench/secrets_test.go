package main

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

// plantedKey has what every form writes otherwise.
const plantedKey = `sk-Planted"K'y/é$0123+456 789=end`

// plantedForms is the key as programs write it.
func plantedForms() map[string]string {
	marshalled, _ := json.Marshal(plantedKey)
	twice, _ := json.Marshal(string(marshalled))
	ascii := fmt.Sprintf("%+q", plantedKey)
	each := func(format string) string {
		var b strings.Builder
		for _, c := range []byte(plantedKey) {
			fmt.Fprintf(&b, format, c)
		}
		return b.String()
	}
	const cut = 5 // within the key
	return map[string]string{
		"plain":      plantedKey,
		"JSON":       string(marshalled[1 : len(marshalled)-1]),
		"ASCII JSON": ascii[1 : len(ascii)-1],
		"JSON twice": string(twice[3 : len(twice)-3]),
		"query":      url.QueryEscape(plantedKey),
		"path":       url.PathEscape(plantedKey),
		"HTML":       html.EscapeString(plantedKey),
		"shell":      strings.ReplaceAll(plantedKey, "'", `'\''`),
		"base64":     base64.StdEncoding.EncodeToString([]byte(plantedKey)),
		"basic auth": base64.StdEncoding.EncodeToString([]byte("user:" + plantedKey)),
		"hex":        hex.EncodeToString([]byte(plantedKey)),

		"header":           "Authorization: Bearer " + plantedKey,
		"base64 of header": base64.StdEncoding.EncodeToString([]byte("Bearer " + plantedKey)),
		"base64 for URLs":  base64.RawURLEncoding.EncodeToString([]byte(plantedKey)),
		"Go":               strconv.Quote(plantedKey)[1:],
		"Python":           strings.ReplaceAll(plantedKey, "'", `\'`),
		"HEX":              each("%02X"),
		"hex with colons":  each(":%02x")[1:],
		"escaped URL":      each("%%%02x"),
		"escaped HTML":     each("&#%d;"),
		"escaped bytes":    each(`\x%02x`),
		"in colours":       plantedKey[:cut] + "\x1b[31m" + plantedKey[cut:],
		"around a title":   plantedKey[:cut] + "\x1b]0;title\x07" + plantedKey[cut:],
	}
}

// plantedChannels are the ways in which a server reveals it.
func plantedChannels() map[string]func(w http.ResponseWriter, text string) {
	answer := func(status int, kind string, body func(string) string) func(http.ResponseWriter, string) {
		return func(w http.ResponseWriter, text string) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body(text)) // the client may be gone
		}
	}
	quoted := func(text string) string { data, _ := json.Marshal("invalid key " + text); return string(data) }
	return map[string]func(http.ResponseWriter, string){
		"400": answer(400, "application/json", func(t string) string {
			return `{"error": {"message": ` + quoted(t) + `}}`
		}),
		"500":     answer(500, "text/plain", func(t string) string { return "invalid key " + t }),
		"500-cut": answer(500, "text/plain", func(t string) string { return strings.Repeat("x", 185) + t }),
		"in-band": answer(200, "text/event-stream", func(t string) string {
			return `data: {"error": {"message": ` + quoted(t) + "}}\n\n"
		}),
		"garbage": answer(200, "text/event-stream", func(t string) string { return "data: " + t + "\n\n" }),
		"page":    answer(200, "text/html", func(t string) string { return "<html>" + t + "</html>" }),
		"headers": func(w http.ResponseWriter, t string) {
			w.Header().Set("X-Key", t)
			answer(503, "text/plain", func(string) string { return "" })(w, t)
		},
		"finish": answer(200, "text/event-stream", func(t string) string {
			return `data: {"model": ` + quoted(t) + `, "choices": [{"text": "a", "finish_reason": ` + quoted(t) +
				"}]}\n\ndata: [DONE]\n\n"
		}),
		"pieces": answer(200, "text/event-stream", func(t string) string {
			var b strings.Builder
			for piece := range slices.Chunk([]rune(t), 4) {
				text, _ := json.Marshal(string(piece))
				fmt.Fprintf(&b, "data: {\"choices\": [{\"text\": %s}]}\n\n", text)
			}
			return b.String() +
				"data: {\"choices\": [{\"text\": \"\", \"finish_reason\": \"length\"}]}\n\ndata: [DONE]\n\n"
		}),
		"type": func(w http.ResponseWriter, t string) {
			answer(200, "text/"+t, func(string) string { return "" })(w, t)
		},
		"busy": func(w http.ResponseWriter, t string) {
			w.Header().Set("Retry-After", t)
			w.Header().Set("WWW-Authenticate", "Bearer realm="+t)
			answer(429, "text/plain", func(string) string { return "" })(w, t)
		},
		"reason": func(w http.ResponseWriter, t string) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			fmt.Fprintf(conn, "HTTP/1.1 500 %s\r\nContent-Length: 0\r\n\r\n", t)
		},
		"redirect": func(w http.ResponseWriter, t string) {
			w.Header().Set("Location", "/elsewhere?key="+url.QueryEscape(t))
			w.WriteHeader(http.StatusFound)
		},
	}
}

// tellingServer answers /CHANNEL/... with the key in one form after another; a
// request for one token it answers well, so that a run begins.
func tellingServer(t *testing.T) *httptest.Server {
	forms := plantedForms()
	names := slices.Sorted(maps.Keys(forms))
	channels := plantedChannels()
	var mu sync.Mutex
	turn := map[string]int{}
	next := func(channel string) string {
		mu.Lock()
		defer mu.Unlock()
		turn[channel]++
		return forms[names[turn[channel]%len(names)]]
	}

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		channel, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		body, _ := io.ReadAll(r.Body) // what is missing is not needed
		var asked struct {
			MaxTokens int `json:"max_tokens"`
		}
		_ = json.Unmarshal(body, &asked) // else it asks for nothing
		switch {
		case channel == "hook":
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, "no such topic\n"+forms[rest])
		case strings.HasSuffix(rest, "models") && channel == "listed":
			id, _ := json.Marshal(next(channel))
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"object": "list", "data": [{"id": %s, "object": "model"}]}`, id)
		case strings.HasSuffix(rest, "models"):
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"object": "list", "data": [{"id": "m", "object": "model"}]}`)
		case r.Method == http.MethodGet:
			_, _ = io.WriteString(w, "ok")
		case channels[channel] != nil && asked.MaxTokens == 7: // that of the load
			channels[channel](w, next(channel))
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			_,
				_ = io.WriteString(w,
				"data: {\"choices\": [{\"text\": \"a\", \"finish_reason\": \"length\"}]}\n\ndata: [DONE]\n\n")
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// TestSecretMatrix plants a key in every channel that a server, a hook, a
// webhook and a program have, in every form, and looks for it in every byte
// that is left.
func TestSecretMatrix(t *testing.T) {
	server := tellingServer(t)
	forms := plantedForms()
	channels := slices.Sorted(maps.Keys(plantedChannels()))

	testscript.Run(t, testscript.Params{
		Dir: "testdata/secrets",
		Setup: func(e *testscript.Env) error {
			e.Setenv("BENCH_STATE_DIR", filepath.Join(e.WorkDir, ".state"))
			e.Setenv("MY_API_KEY", plantedKey)
			e.Setenv("TOPIC", "topic-a1b2c3")
			e.Setenv("SERVER", server.URL)
			var text strings.Builder
			for _, name := range slices.Sorted(maps.Keys(forms)) {
				text.WriteString(name + ": " + forms[name] + "\n")
			}
			if err := os.WriteFile(filepath.Join(e.WorkDir, "forms.txt"), []byte(text.String()), 0o600); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(e.WorkDir, "told.yaml"),
				[]byte(scenarioOfChannels(server.URL, channels, forms)), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"absent": func(ts *testscript.TestScript, _ bool, files []string) { absent(ts, files, channels) },
		},
	})
}

func scenarioOfChannels(address string, channels []string, forms map[string]string) string {
	var b strings.Builder
	b.WriteString("schema: 1\nname: told\non-failure: continue\nhooks:\n  run:\n" +
		"    before: [{command: [cat, forms.txt]}]\n" +
		"  step:\n    after: [{command: [sh, -c, \"cat forms.txt >&2; exit 1\"]}]\nnotify:\n")
	for _, form := range slices.Sorted(maps.Keys(forms)) {
		fmt.Fprintf(&b, "  - {webhook: \"%s/hook/%s?topic=${env:TOPIC}\"}\n", address, url.PathEscape(form))
	}
	b.WriteString("variants:\n")
	for _, channel := range channels {
		fmt.Fprintf(&b, "  - {name: \"ch-%s\", base-url: \"%s/%s\"}\n", channel, address, channel)
	}
	fmt.Fprintf(&b, "  - {name: listed, base-url: \"%s/listed\"}\n", address)
	b.WriteString("  - {name: log, launcher: command, base-url: null, api-key: null, " +
		"command: [sh, -c, \"cat forms.txt; exit 1\"]}\n")
	fmt.Fprintf(&b, "server: {launcher: external, model: m, api-key: \"${env:MY_API_KEY}\"}\n"+
		"load:\n  endpoint: completions\n  dataset: {kind: random, tokens: ids, vocab-size: 1000}\n  input-len: 4\n"+
		"  output-len: 7\n"+
		"  num-prompts: %d\n  max-concurrency: 1\n  warmups: 0\n", 2*len(forms))
	return b.String()
}

// absent FILE... looks for the key in files and in all that is in folders,
// packed or not, and prints the matrix.
func absent(ts *testscript.TestScript, files, channels []string) {
	var all [][2]string // name, content
	for _, name := range files {
		err := filepath.WalkDir(ts.MkAbs(name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			all = append(all, contents(path, data)...)
			return err
		})
		ts.Check(err)
	}
	if len(all) < 10 {
		ts.Fatalf("only %d files were looked at", len(all))
	}

	forms := plantedForms()
	forms["topic of a webhook"] = "topic-a1b2c3"
	for _, form := range slices.Sorted(maps.Keys(forms)) {
		where := "absent"
		for _, file := range all {
			for _, part := range []string{forms[form], forms[form][:len(forms[form])*2/3]} { // what a cut leaves
				if strings.Contains(file[1], part) {
					where = file[0]
				}
			}
		}
		ts.Logf("%-20s %s: %s", form, strings.Join(channels, ", "), where)
		if where != "absent" {
			ts.Fatalf("%s is left in %s", form, where)
		}
	}
}

// contents is what a file holds, unpacked.
func contents(path string, data []byte) [][2]string {
	all := [][2]string{{path, string(data)}}
	switch filepath.Ext(path) {
	case ".zst":
		if z, err := zstd.NewReader(bytes.NewReader(data)); err == nil {
			plain, _ := io.ReadAll(z) // up to where it is damaged
			all = append(all, [2]string{path, string(plain)})
		}
	case ".zip":
		if z, err := zip.NewReader(bytes.NewReader(data), int64(len(data))); err == nil {
			for _, f := range z.File {
				if in, err := f.Open(); err == nil {
					member, _ := io.ReadAll(in) // up to where it is damaged
					all = append(all, contents(path+":"+f.Name, member)...)
				}
			}
		}
	}
	return all
}
