package bundle

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"strings"
)

const compressed = ".zst"

// isPrompts reports whether a file holds frozen prompts, which must stay as they are: a prompt that
// was changed is another prompt.
func isPrompts(name string) bool { return strings.HasPrefix(name, "prompts/") }

// isLog reports whether --without-logs leaves a file out.
func isLog(name string) bool {
	base := strings.TrimSuffix(path.Base(name), compressed)
	return base == "bench.log" || strings.HasPrefix(base, "server-") && strings.HasSuffix(base, ".log")
}

// isRecords reports whether --without-records leaves a file out.
func isRecords(name string) bool {
	base := path.Base(strings.TrimSuffix(name, compressed))
	ofStep := strings.HasPrefix(name, "steps/") || strings.HasPrefix(name, "attempts/")
	return ofStep && strings.HasSuffix(base, ".jsonl")
}

// unwanted says why a file of a run folder is never packed; "": it may be.
func unwanted(name string) string {
	base := path.Base(name)
	switch {
	case base == ".lock", base == "live.json", name == IndexName:
		return "specific to this machine and moment"
	case strings.HasPrefix(base, ".") && strings.Contains(base, "tmp-"), strings.HasPrefix(base, ".redact-"):
		return "unfinished"
	}
	return ""
}

var homes = regexp.MustCompile(`(/(?:home|Users)/)([^/\s"'\\:,]+)`)

// anonymous are the rewrites that take names of users and machines out.
func anonymous(hosts []string) []rewrite {
	all := []rewrite{{what: "name of a user", hint: "/", do: func(line []byte) ([]byte, int) {
		n := 0
		changed := homes.ReplaceAllFunc(line, func(found []byte) []byte {
			parts := homes.FindSubmatch(found)
			if string(parts[2]) == "user" {
				return found
			}
			n++
			return append(bytes.Clone(parts[1]), "user"...)
		})
		return changed, n
	}}}
	for _, host := range hosts {
		if host == "" || host == "host" || host == "localhost" {
			continue
		}
		word := regexp.MustCompile(`\b` + regexp.QuoteMeta(host) + `\b`)
		all = append(all, rewrite{what: "name of a machine", hint: host, do: func(line []byte) ([]byte, int) {
			n := len(word.FindAllIndex(line, -1))
			return word.ReplaceAll(line, []byte("host")), n
		}})
	}

	return all
}

// hostsIn are the names of machines in JSON texts of a run.
func hostsIn(text []byte) []string {
	var known struct {
		Node string `json:"node"`
		Host struct {
			Name string `json:"hostname"`
		} `json:"host"`
	}

	if json.Unmarshal(text, &known) != nil {
		return nil
	}

	var hosts []string
	for _, name := range []string{known.Node, known.Host.Name} {
		if name != "" {
			hosts = append(hosts, name)
		}
	}

	return hosts
}
