package recipe

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// peerField is what a command may ask of another component.
type peerField struct {
	name  string // of one server; with an s behind it: of all of them
	value func(Peer) string
}

func peerFields() []peerField {
	return []peerField{
		{"url", func(p Peer) string { return "http://" + net.JoinHostPort(p.Host, strconv.Itoa(p.Port)) }},
		{"host", func(p Peer) string { return p.Host }},
		{"port", func(p Peer) string { return strconv.Itoa(p.Port) }},
		{"address", func(p Peer) string { return net.JoinHostPort(p.Host, strconv.Itoa(p.Port)) }},
		{"bootstrap-port", func(p Peer) string { return strconv.Itoa(p.SideChannel) }},
	}
}

// PeerFields are the names of what a command may ask of other components.
func PeerFields() []string {
	var names []string
	for _, f := range peerFields() {
		names = append(names, f.name, f.name+"s")
	}
	return names
}

// ofPeer is ${COMPONENT.FIELD}.
var ofPeer = regexp.MustCompile(`\$\{([^}.]+)\.([^}]+)\}`)

// FillPeers puts the addresses of other components into a command. A word with
// ${NAME.url} stands once for each server of the component, together with the
// option before it and words behind it that name the component, too; one that is
// ${NAME.urls} becomes a word for each server, and within a word they are joined
// by commas.
func FillPeers(argv []string, peers []Peer) ([]string, error) {
	var out []string
	for i := 0; i < len(argv); i++ {
		component, repeated, err := asksForEach(argv[i], peers)
		if err != nil {
			return nil, err
		}
		if !repeated {
			words, err := fillAll(argv[i], peers)
			if err != nil {
				return nil, err
			}
			out = append(out, words...)
			continue
		}

		group := []string{argv[i]}
		for i+1 < len(argv) {
			next, also, err := asksForEach(argv[i+1], peers)
			if err != nil || !also || next != component {
				break // what is wrong with it is found in its turn
			}
			i++
			group = append(group, argv[i])
		}

		var option []string
		if last := len(out) - 1; last >= 0 && strings.HasPrefix(out[last], "-") && !strings.Contains(out[last], "=") {
			option, out = out[last:], out[:last:last]
		}
		for _, p := range peersOf(component, peers) {
			out = append(out, option...)
			for _, word := range group {
				filled, err := fillAll(word, []Peer{p})
				if err != nil {
					return nil, err
				}
				out = append(out, filled...)
			}
		}
	}

	return out, nil
}

func peersOf(component string, peers []Peer) []Peer {
	return slices.DeleteFunc(slices.Clone(peers), func(p Peer) bool { return p.Component != component })
}

// asksForEach reports whether a word stands for each server of a component.
func asksForEach(word string, peers []Peer) (component string, each bool, err error) {
	for _, m := range ofPeer.FindAllStringSubmatch(word, -1) {
		single := slices.ContainsFunc(peerFields(), func(f peerField) bool { return f.name == m[2] })
		switch {
		case len(peersOf(m[1], peers)) == 0:
			return "", false, fmt.Errorf("command: %s in %q: no component %q is listed before this one",
				m[0], word, m[1])
		case single && each && component != m[1]:
			return "", false, fmt.Errorf("command: %q names servers of %s and of %s: write a word for each", word,
				component, m[1])
		case single:
			component, each = m[1], true
		}
	}
	return component, each, nil
}

// fillAll fills in a word; one that asks for all servers becomes several.
func fillAll(word string, peers []Peer) ([]string, error) {
	var err error
	value := func(name, field string) []string {
		for _, f := range peerFields() {
			if field != f.name && field != f.name+"s" {
				continue
			}
			var values []string
			for _, p := range peersOf(name, peers) {
				values = append(values, f.value(p))
			}
			return values
		}
		err = fmt.Errorf("command: ${%s.%s} in %q is unknown: a component has %s", name, field, word,
			strings.Join(PeerFields(), ", "))
		return nil
	}

	if m := ofPeer.FindStringSubmatch(word); m != nil && m[0] == word {
		words := value(m[1], m[2])
		return words, err
	}
	filled := ofPeer.ReplaceAllStringFunc(word, func(found string) string {
		m := ofPeer.FindStringSubmatch(found)
		return strings.Join(value(m[1], m[2]), ",")
	})
	return []string{filled}, err
}
