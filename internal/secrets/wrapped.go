package secrets

import "strings"

// shortestWrapped is the length of the shortest form that is looked for across line
// ends, in bytes: shorter ones could be the end and the beginning of two words.
const shortestWrapped = 8

// wrapped is the text without secrets that stand across line ends: programs break long
// lines, also in base64 of a longer text. The line ends stay.
func (r *Redactor) wrapped(text string) string {
	if !strings.Contains(strings.TrimSuffix(text, "\n"), "\n") {
		return text
	}
	joined, place := withoutBreaks(text)
	if r.replacer.Replace(joined) == joined {
		return text
	}

	var out strings.Builder
	copied := 0
	for at := 0; at+shortestWrapped <= len(joined); {
		length := r.wrappedAt(joined[at:])
		if length == 0 {
			at++
			continue
		}
		begin := place[at]
		at += length
		out.WriteString(text[copied:begin] + Hidden)
		copied = place[at-1] + 1
		out.WriteString(strings.Repeat("\n", strings.Count(text[begin:copied], "\n")))
	}

	return out.String() + text[copied:]
}

// wrappedAt is the length of the form with which a text begins; 0: none.
func (r *Redactor) wrappedAt(text string) int {
	for _, form := range r.starts[text[:startLength]] {
		if strings.HasPrefix(text, form) {
			return len(form)
		}
	}
	return 0
}

// startLength is how many bytes of a form r.starts has as its key.
const startLength = 4

// byStart groups forms by their beginning.
func byStart(forms []string) map[string][]string {
	starts := map[string][]string{}
	for _, form := range forms {
		if len(form) >= shortestWrapped {
			starts[form[:startLength]] = append(starts[form[:startLength]], form)
		}
	}
	return starts
}

// withoutBreaks leaves out line ends and the blanks on both sides of them. place is
// where each byte stood.
func withoutBreaks(text string) (joined string, place []int) {
	var out strings.Builder
	out.Grow(len(text))
	place = make([]int, 0, len(text))
	for from := 0; from < len(text); {
		line := text[from:]
		if end := strings.IndexByte(line, '\n'); end >= 0 {
			line = line[:end+1]
		}
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		for i := indent; i < len(strings.TrimRight(line, " \t\r\n")); i++ {
			out.WriteByte(line[i])
			place = append(place, from+i)
		}
		from += len(line)
	}
	return out.String(), place
}
