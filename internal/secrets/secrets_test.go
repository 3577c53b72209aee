package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"
)

func TestIsName(t *testing.T) {
	tests := []struct {
		secret bool
		names  []string
	}{
		{true, []string{
			"HF_TOKEN", "MY_API_KEY", "api-key", "--api-key", "apiKey", "X-Api-Key", "key", "token", "OPENAI_API_KEYS",
			"AWS_ACCESS_KEY_ID",
			"AWS_SECRET_ACCESS_KEY", "PGPASS", "PGPASSWORD", "DB_PASSWORD", "password", "REGISTRY_AUTH", "DOCKER_CREDS",
			"DATABASE_URL", "SENTRY_DSN",
			"SESSION_COOKIE", "Set-Cookie", "Cookie", "GITHUB_PAT", "SSH_PRIVATE_KEY", "PRIVATE_THING", "Authorization",
			"Proxy-Authorization",
			"hf-token", "auth_token", "TOKEN_2", "client.secret", "REDIS_URL", "SMTP_PASS", "GOOGLE_CREDENTIALS",
			"MYPASSWORD", "WEBHOOK_URL",
		}},
		{false, []string{
			"", "max-num-batched-tokens", "TOKENIZERS_PARALLELISM", "tokenizer", "skip-tokenizer-init",
			"HF_TOKEN_PATH", "PGPASSFILE",
			"eos-token", "max_tokens", "keyboard", "MONKEY", "path", "PATTERN", "COMPAT", "SSH_AUTH_SOCK", "public_key",
			"time-per-output-token", "author",
			"BASE_URL", "MODEL_URL", "num-prompts", "passes", "---", "pass-2", "PWD", "OLDPWD", "BENCH_COOKIE",
		}},
	}
	for _, tt := range tests {
		for _, name := range tt.names {
			if got := IsName(name); got != tt.secret {
				t.Errorf("IsName(%q) = %v, want %v", name, got, tt.secret)
			}
		}
	}
}

// formsOf writes a value as programs do, by other means than Forms has.
func formsOf(value string) map[string]string {
	marshalled, _ := json.Marshal(value)
	twice, _ := json.Marshal(string(marshalled))
	return map[string]string{
		"plain":         value,
		"header":        "Authorization: Bearer " + value,
		"JSON":          string(marshalled),
		"JSON in JSON":  string(twice),
		"ASCII JSON":    fmt.Sprintf("%+q", value),
		"Go quoted":     fmt.Sprintf("%q", value),
		"HTML":          html.EscapeString(value),
		"query":         "?key=" + url.QueryEscape(value),
		"path":          "/" + url.PathEscape(value),
		"small percent": strings.ToLower(url.QueryEscape(value)),
		"shell":         "'" + strings.ReplaceAll(value, "'", `'\''`) + "'",
		"base64":        base64.StdEncoding.EncodeToString([]byte(value)),
		"raw base64":    base64.RawURLEncoding.EncodeToString([]byte(value)),
		"basic":         base64.StdEncoding.EncodeToString([]byte("user:" + value)),
		"basic, 1":      base64.StdEncoding.EncodeToString([]byte("users:" + value)),
		"basic, 2":      base64.StdEncoding.EncodeToString([]byte("other12:" + value + "@host")),
		"hex":           hex.EncodeToString([]byte(value)),
		"HEX":           strings.ToUpper(hex.EncodeToString([]byte(value))),
	}
}

func TestRedactorHidesEveryForm(t *testing.T) {
	for _, value := range []string{
		"sk-planted-0123456789abcdef", `p"l'a\n t$e&d/secret+é`, "passwört-with-ümlaut",
		"two words and more",
	} {
		r := NewRedactor([]string{value})
		for form, text := range formsOf(value) {
			if form == "small percent" && strings.ToLower(value) != value {
				continue
			}
			got := r.Text("before " + text + " after")
			if !strings.Contains(got, Hidden) || !strings.HasPrefix(got, "before ") ||
				!strings.HasSuffix(got, " after") {
				t.Errorf("%s of %q: %q is shown as %q", form, value, text, got)
			}
			if strings.Contains(got, value) {
				t.Errorf("%s of %q: the value is left in %q", form, value, got)
			}
		}
	}
}

func TestRedactor(t *testing.T) {
	tests := []struct {
		name    string
		secrets []string
		in      string
		want    string
	}{
		{"one is the beginning of another", []string{"hunter2", "hunter22x"}, "hunter22x hunter2", "*** ***"},
		{"an empty value is ignored", []string{""}, "abc", "abc"},
		{"of a header the token is hidden alone", []string{"Bearer tok-123456"}, "got tok-123456", "got ***"},
		{"nothing to hide", nil, "abc", "abc"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := NewRedactor(tt.secrets).Text(tt.in); got != tt.want {
				t.Errorf("Text(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
	var none *Redactor
	if got := none.Text("abc"); got != "abc" {
		t.Errorf("a nil redactor makes %q", got)
	}
}

func TestJSONKeepsNumbers(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"a number with the digits of a secret", `{"a": 1234567.5, "b": "x 123456"}`, `{"a": 1234567.5, "b": "x ***"}`},
		{"escaped quotes", `{"a": "\"123456\"", "b": 123456}`, `{"a": "\"***\"", "b": 123456}`},
		{"a string that does not end", `{"a": "123456`, `{"a": "***`},
		{"nothing", `[1, 2]`, `[1, 2]`},
		{"several lines", "{\"a\":\"123456\"}\n{\"a\":123456}\n", "{\"a\":\"***\"}\n{\"a\":123456}\n"},
	}
	r := NewRedactor([]string{"123456"})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(r.JSON([]byte(tt.in))); got != tt.want {
				t.Errorf("JSON(%s) = %s, want %s", tt.in, got, tt.want)
			}
		})
	}
}

// TestSplitSecrets: control sequences within a secret would be taken out where the
// text is shown, and put the secret together.
func TestSplitSecrets(t *testing.T) {
	r := NewRedactor([]string{"sk-planted-0123456789"})
	for name, text := range map[string]string{
		"colour":           "key sk-pla\x1b[31mnted-0123456789 is wrong",
		"colour of 8 bits": "key sk-pla\u009b31mnted-0123456789 is wrong",
		"title":            "key sk-pla\x1b]0;x\x07nted-0123456789 is wrong",
		"title, ended":     "key sk-pla\x1b]0;x\x1b\\nted-0123456789 is wrong",
		"several":          "key s\x1b[1mk-pla\x1b[0mnted-01234\x1b(B56789 is wrong",
	} {
		if got := r.Text(text); got != "key "+Hidden+" is wrong" {
			t.Errorf("%s: %q", name, got)
		}
		object, err := json.Marshal(map[string]any{"a": 7, "text": text})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(r.JSON(object)); got != `{"a":7,"text":"key `+Hidden+` is wrong"}` {
			t.Errorf("%s in JSON: %s", name, got)
		}
	}

	const harmless = "a \x1b[31mred\x1b[0m word"
	if got := r.Text(harmless); got != harmless {
		t.Errorf("%q became %q: sequences stay where no secret is", harmless, got)
	}
}

// A secret that was quoted by several programs one after the other is hidden, and
// what is around it is kept.
func TestQuotedSeveralTimes(t *testing.T) {
	value := "tok/Ab+9'q\"é z$%=XyZ\\77\U0001F600"
	shell := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	ascii := func(s string) string { return fmt.Sprintf("%+q", s) }
	quote := func(s string) string { return fmt.Sprintf("%q", s) }
	object := func(s string) string { data, _ := json.Marshal(s); return string(data) }
	python := func(s string) string { return "'" + pythonRepr(s) + "'" }
	wide := func(s string) string { return strings.Join(strings.Split(s, ""), "\x00") }
	layers := map[string]func(string) string{
		"shell": shell, "ASCII": ascii, "Go": quote, "JSON": object, "Python": python, "UTF-16": wide,
	}

	r := NewRedactor([]string{value})
	for a, first := range layers {
		for b, second := range layers {
			for c, third := range layers {
				text := third("x " + second("key is "+first(value)+" or not"))
				got := r.Text("before " + text + " after")
				for _, part := range []string{"tok/Ab", "XyZ", "t\x00o"} {
					if strings.Contains(got, part) {
						t.Errorf("%s, %s, %s: %q is left of %q", a, b, c, got, text)
					}
				}
				if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
					t.Errorf("%s, %s, %s: %q", a, b, c, got)
				}
				if line := r.JSON([]byte(object(text))); !json.Valid(line) || strings.Contains(string(line), "XyZ") {
					t.Errorf("%s, %s, %s in JSON: %s", a, b, c, line)
				}
			}
		}
	}

	for _, text := range []string{`C:\tokens 'a' "b" \x41 \u00e9 \`, "a\x00b", `\`, `\\u12`, `\ud83d`, `\ud83d\u0041`} {
		if got := r.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// Logs are read line by line: a secret of several lines is hidden in each of them.
func TestSecretsOfSeveralLines(t *testing.T) {
	t.Parallel()
	const key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nBAQEFAASCBKcwggSjAgEAAo\n-----END PRIVATE KEY-----\n"
	r := NewRedactor([]string{key})
	encoded := base64.StdEncoding.EncodeToString([]byte(key))
	for _, text := range []string{
		"MIIEvQIBADANBgkqhkiG9w0", "> BAQEFAASCBKcwggSjAgEAAo\r", encoded[:64], encoded[64:128], encoded[76:],
		hex.EncodeToString([]byte("BAQEFAASCBKcwggSjAgEAAo")),
	} {
		if got := r.Text(text); !strings.Contains(got, Hidden) || len(got) > len(Hidden)+3 {
			t.Errorf("Text(%q) = %q", text, got)
		}
	}
}

// A text is copied in pieces, and no secret stands across two.
func TestCopyWithoutEnd(t *testing.T) {
	t.Parallel()
	const key = "sk-0123456789abcdef"
	hide := NewRedactor([]string{key}).Text
	for _, before := range []int{block/2 - 5, block - 5, block, block + block/2 - 1} {
		text := strings.Repeat("x", before) + key + strings.Repeat("y", 2*block) + "\n" + key
		want := strings.Repeat("x", before) + Hidden + strings.Repeat("y", 2*block) + "\n" + Hidden
		var got strings.Builder
		changed, err := Copy(&got, strings.NewReader(text), hide)
		if err != nil || !changed || got.String() != want {
			t.Errorf("%d bytes before the key: %v, %v, %d bytes, want %d", before, changed, err, got.Len(), len(want))
		}
	}
}

// A text is cut after its secrets are hidden: the begin of one is not recognised.
func TestBeginning(t *testing.T) {
	t.Parallel()
	r := NewRedactor([]string{"sk-0123456789abcdef"})
	for text, want := range map[string]string{
		"short": "short", "0123456sk-0123456789abcdef and more": "0123456***",
		"012345678sk-0123456789abcdef": "012345678*",
		"sk-0123456789abcdef":          "***",
	} {
		if got := r.Beginning(text, 10); got != want {
			t.Errorf("Beginning(%q) = %q, want %q", text, got, want)
		}
	}
}

// Programs break long lines: a key is hidden across the end of one, also in the base64
// of a longer text, and the lines stay.
func TestWrappedSecrets(t *testing.T) {
	t.Parallel()
	const key = "sk-0123456789abcdef-PLANTED"
	hide := NewRedactor([]string{key}).Text
	encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 40) + key + strings.Repeat("y", 60)))
	for name, c := range map[string]struct{ text, want string }{
		"two lines":      {"args: sk-01234567\n      89abcdef-PLANTED, more\n", "args: ***\n, more\n"},
		"blanks, CR":     {"sk-01234 \t\r\n56789abcdef-PLANTED\n", "***\n\n"},
		"three lines":    {"a sk-01234\n56789ab\ncdef-PLANTED b", "a ***\n\n b"},
		"twice":          {"sk-01234\n56789abcdef-PLANTED sk-012345\n6789abcdef-PLANTED", "***\n ***\n"},
		"other lines":    {"sk-01234\nother\n56789abcdef-PLANTED\n", "sk-01234\nother\n56789abcdef-PLANTED\n"},
		"at a line end":  {"x\nsk-0123456789abcdef-PLANTED\ny", "x\n***\ny"},
		"nothing hidden": {"  a\n\n b \n", "  a\n\n b \n"},
	} {
		if got := hide(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}

	for width := 40; width <= 80; width++ {
		var lines []string
		for from := 0; from < len(encoded); from += width {
			lines = append(lines, encoded[from:min(from+width, len(encoded))])
		}
		var out strings.Builder
		if _, err := Copy(&out, strings.NewReader(strings.Join(lines, "\n")), hide); err != nil {
			t.Fatal(err)
		}
		plain, _ := base64.StdEncoding.DecodeString(strings.ReplaceAll(out.String(), "\n", ""))
		if strings.Contains(string(plain), "0123456789") || !strings.Contains(out.String(), Hidden) {
			t.Errorf("base64 of width %d: %q", width, out.String())
		}
		if got := Lines(lines, hide); len(got) != len(lines) || strings.Join(got, "\n") != out.String() {
			t.Errorf("width %d: Lines() = %q, want %q", width, got, out.String())
		}
	}
}
