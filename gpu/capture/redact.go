package capture

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// replacer puts stable other words in the place of those that identify a
// card or a user.
type replacer struct {
	words map[string]string // what was found -> what stands for it
	kinds map[string]int    // how many words of each kind
	order []string          // words, the longest first
}

var (
	uuidPattern    = regexp.MustCompile(`\b[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}\b`)
	gpuIDPattern   = regexp.MustCompile(`\bGPU-([0-9A-Fa-f]{16})\b`)
	serialPattern  = regexp.MustCompile(`(?i)"[^"\n]*(?:serial|unique[ _]?id)[^"\n]*"\s*:\s*"([^"\n]+)"`)
	serialLine     = regexp.MustCompile(`(?im)^[^\n:"]*(?:serial|unique[ _]?id)[^\n:"]*:\s*(\S+)\s*$`)
	kfdIDPattern   = regexp.MustCompile(`(?m)^unique_id (\d+)$`)
	homePattern    = regexp.MustCompile(`/(?:home|Users)/([^/\s",:]+)`)
	notSecretWords = []string{"N/A", "[N/A]", "NA", "None", "Not", "unknown", "0", "0x0"}
)

// newReplacer looks for what to replace in all files.
func newReplacer(files map[string][]byte) *replacer {
	r := &replacer{words: map[string]string{}, kinds: map[string]int{}}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}

	slices.Sort(names) // the same machine gives the same words
	for _, name := range names {
		if !bytes.ContainsRune(files[name], 0) { // text
			r.collect(name, string(files[name]))
		}
	}

	for word := range r.words {
		r.order = append(r.order, word)
	}

	slices.SortStableFunc(r.order, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})

	return r
}

func (r *replacer) collect(name, text string) {
	if strings.HasSuffix(name, "/unique_id") {
		if id, err := strconv.ParseUint(strings.TrimSpace(text), 16, 64); err == nil {
			r.addUniqueID(id)
		}
	}

	for _, found := range kfdIDPattern.FindAllStringSubmatch(text, -1) {
		if id, err := strconv.ParseUint(found[1], 10, 64); err == nil {
			r.addUniqueID(id)
		}
	}

	for _, found := range gpuIDPattern.FindAllStringSubmatch(text, -1) {
		if id, err := strconv.ParseUint(found[1], 16, 64); err == nil {
			r.addUniqueID(id)
		}
	}

	for _, uuid := range uuidPattern.FindAllString(text, -1) {
		if strings.Trim(uuid, "0-") != "" {
			r.add("UUID", uuid, fmt.Sprintf("%08x-0000-0000-0000-%012x", r.kinds["UUID"]+1, r.kinds["UUID"]+1))
		}
	}

	for _, pattern := range []*regexp.Regexp{serialPattern, serialLine} {
		for _, found := range pattern.FindAllStringSubmatch(text, -1) {
			r.addSerial(found[1])
		}
	}

	for _, found := range homePattern.FindAllStringSubmatch(text, -1) {
		if found[1] != "user" {
			r.add("name of a user", "/"+found[1]+"/", "/user/")
		}
	}
}

// addUniqueID replaces the id of an AMD GPU in each way to write it.
func (r *replacer) addUniqueID(id uint64) {
	if id < 1<<32 { // none, or too short to be distinguished from other numbers
		return
	}
	decimal := strconv.FormatUint(id, 10)
	if _, known := r.words[decimal]; known {
		return
	}
	r.kinds["unique id"]++
	n := r.kinds["unique id"]
	r.words[decimal] = strconv.Itoa(n)
	for _, format := range []string{"%016x", "%016X", "%x", "%X"} {
		r.words[fmt.Sprintf(format, id)] = fmt.Sprintf("%016x", n)
	}
}

// addSerial replaces a serial number by one of the same length.
func (r *replacer) addSerial(serial string) {
	if len(serial) < 6 || slices.Contains(notSecretWords, serial) || strings.Trim(serial, "0x") == "" {
		return
	}
	if id, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(serial), "0x"), 16, 64); err == nil &&
		len(serial) >= 16 {
		r.addUniqueID(id)
		return
	}
	r.add("serial number", serial, fmt.Sprintf("%0*d", len(serial), r.kinds["serial number"]+1))
}

func (r *replacer) add(kind, word, instead string) {
	if _, known := r.words[word]; known || word == "" {
		return
	}
	r.words[word] = instead
	r.kinds[kind]++
}

// removed lists what is replaced, by kind.
func (r *replacer) removed() []string {
	removed := []string{}
	for kind, n := range r.kinds {
		removed = append(removed, fmt.Sprintf("%s: %d", kind, n))
	}
	slices.Sort(removed)
	return removed
}

// replace replaces all words in data, binary or not. Every word is looked for
// in the original text: what was put in is not replaced again.
func (r *replacer) replace(data []byte) []byte {
	if len(r.order) == 0 {
		return data
	}
	pairs := make([]string, 0, 2*len(r.order))
	for _, word := range r.order {
		pairs = append(pairs, word, r.words[word])
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(data)))
}
