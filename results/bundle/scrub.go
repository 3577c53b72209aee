package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchrig/bench/internal/secrets"
)

// scrubber takes secrets out of text, line by line: those that it was given,
// those that it has learned from names beside them, and what has the form of
// one.
type scrubber struct {
	patterns []pattern
	known    values
	rewrites []rewrite // of names of users and machines
	learned  int       // values in the file that is read
	inKey    bool      // between the lines of a private key
	prose    bool      // names of secrets mean nothing: the text is a prompt
}

// rewrite replaces a name that is not a secret.
type rewrite struct {
	what string
	hint string
	do   func([]byte) ([]byte, int)
}

func newScrubber(secrets []string) *scrubber {
	s := &scrubber{patterns: patterns(), known: newValues()}
	for _, secret := range secrets {
		s.learn(secret, "secret of the environment")
	}
	return s
}

// learn notes a secret and the forms in which it may be in files.
func (s *scrubber) learn(value, what string) {
	if len(value) < shortest || !meant([]byte(value)) {
		return
	}
	if _, known := s.known.all[value]; known || s.learned > mostLearned {
		return
	}

	s.learned++
	for _, form := range secrets.Forms(value) {
		s.known.add(form, what)
	}
}

// mostLearned is the most values of a file that are taken for secrets, far above what
// a file of a run has: each needs some kilobytes for its forms.
const mostLearned = 1000

// tooMany is an error if not all secrets of the file that is read are known.
func (s *scrubber) tooMany() error {
	if s.learned > mostLearned {
		return fmt.Errorf("it names more than %d secrets", mostLearned)
	}
	return nil
}

// learnJSON notes the secrets of a JSON text: values under names of secrets,
// and words that follow an argument which says so.
func (s *scrubber) learnJSON(text []byte) {
	var value any
	if json.Unmarshal(text, &value) == nil {
		s.walk(value)
	}
}

func (s *scrubber) walk(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if text, ok := v[name].(string); ok && secrets.IsName(name) && looksSecret(name, text) {
				s.learn(text, "value of "+name)
			}

			s.walk(v[name])
		}
	case []any:
		for i, item := range v {
			flag, ok := item.(string)
			if ok && strings.HasPrefix(flag, "-") {
				name, given, joined := strings.Cut(flag, "=")
				next, _ := any("").(string)
				if i+1 < len(v) {
					next, _ = v[i+1].(string)
				}
				switch {
				case !secrets.IsName(name):
				case joined:
					s.learn(given, "value of "+name)
				case !strings.HasPrefix(next, "-"):
					s.learn(next, "value of "+name)
				}
			}

			s.walk(item)
		}
	}
}

// looksSecret is false for what is under short names in small letters, which may
// be words of anything: "key": "output_throughput".
func looksSecret(name, text string) bool {
	if name == strings.ToLower(name) && !strings.ContainsAny(name, "_-") && len(name) <= len("token") {
		return random([]byte(text))
	}
	return true
}

// learnLine notes the secrets that a line of text names.
func (s *scrubber) learnLine(line []byte) {
	for _, p := range s.patterns {
		if p.named == 0 || !p.hinted(line) {
			continue
		}
		for _, at := range p.find.FindAllSubmatchIndex(line, -1) {
			value := line[at[2*p.group]:at[2*p.group+1]]
			if p.is(value) {
				s.learn(string(value), "value of "+string(line[at[2*p.named]:at[2*p.named+1]]))
			}
		}
	}
}

func (p pattern) hinted(line []byte) bool {
	return slices.ContainsFunc(p.hints, func(hint string) bool { return bytes.Contains(line, []byte(hint)) })
}

// begin begins another file.
func (s *scrubber) begin(name string) { s.inKey, s.prose = false, isPrompts(name) }

// line takes the secrets out of a line and counts them by what they are.
func (s *scrubber) line(line []byte, counts map[string]int) []byte {
	if out, ok := s.keyLine(line, counts); ok {
		return out
	}
	line = s.known.hide(line, counts)

	for _, p := range s.patterns {
		if (p.named == 0 || !s.prose) && p.hinted(line) {
			line = p.hide(line, counts)
		}
	}

	for _, r := range s.rewrites {
		if bytes.Contains(line, []byte(r.hint)) {
			changed, n := r.do(line)
			if n > 0 {
				line = changed
				counts[r.what] += n
			}
		}
	}

	return line
}

// keyLine hides the lines of a private key that has several.
func (s *scrubber) keyLine(line []byte, counts map[string]int) ([]byte, bool) {
	begins := bytes.Contains(line, []byte("-----BEGIN ")) && bytes.Contains(line, []byte("PRIVATE KEY-----"))
	ends := bytes.Contains(line, []byte("-----END "))
	switch {
	case s.inKey:
		s.inKey = !ends
		return nil, true
	case begins && !ends:
		s.inKey = true
		counts["private key"]++
		before, _, _ := bytes.Cut(line, []byte("-----BEGIN "))
		return append(append(slices.Clone(before), hidden...), '\n'), true
	}
	return line, false
}

// hide replaces what a pattern finds.
func (p pattern) hide(line []byte, counts map[string]int) []byte {
	var out []byte
	last := 0
	for _, at := range p.find.FindAllSubmatchIndex(line, -1) {
		from, to := at[2*p.group], at[2*p.group+1]
		if p.is != nil && !p.is(line[from:to]) {
			continue
		}
		what := p.what
		if p.named > 0 {
			what = "value of " + string(line[at[2*p.named]:at[2*p.named+1]])
		}
		counts[what]++
		out = append(append(out, line[last:from]...), hidden...)
		last = to
	}

	if last == 0 {
		return line
	}

	return append(out, line[last:]...)
}
