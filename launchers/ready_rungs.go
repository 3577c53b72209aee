package launchers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/internal/text"
	"github.com/benchrig/bench/launchers/container"
	"github.com/benchrig/bench/launchers/engines"
	"github.com/benchrig/bench/launchers/ports"
	"github.com/benchrig/bench/results"
)

// ladder is what a server must show, in order. The names are those of
// results.Phase.
func (s *Server) ladder() []rung {
	var rungs []rung
	if s.process != nil {
		rungs = append(rungs, rung{"alive", "the process", s.tryAlive})
	}
	rungs = append(rungs, rung{"tcp", "a TCP connection", s.tryTCP})
	if s.log != nil && s.spec.Ready.Log != "" {
		rungs = append(rungs, rung{"log", fmt.Sprintf("the log to say %q", s.spec.Ready.Log), s.tryLog})
	}
	if path := s.healthPath(); path != "" {
		rungs = append(rungs, rung{"health", "health (" + path + ")", s.tryHealth})
	}
	if s.kind.ModelsPath != "" {
		strikes := 0
		rungs = append(rungs, rung{"model", "the model list (" + s.kind.ModelsPath + ")", func(ctx context.Context) step {
			return s.tryModel(ctx, &strikes)
		}})
	}
	if s.process != nil {
		strikes := 0
		rungs = append(rungs, rung{"owner", "the port's owner", func(ctx context.Context) step { return s.tryOwner(ctx, &strikes) }})
	}
	token := tokenRung{server: s, path: completionsPath}
	return append(rungs, rung{"token", "a token", token.try})
}

// externalPatience is how long a server that is said to run already may refuse
// connections: long enough for one that is being restarted by its keeper.
const externalPatience = 15 * time.Second

func (s *Server) healthPath() string { return cmp.Or(s.spec.Ready.Path, s.kind.HealthPath) }

func (s *Server) tryAlive(context.Context) step {
	_, exited := s.process.Exit()
	return step{done: !exited, answer: "the process has ended"}
}

func (s *Server) tryTCP(ctx context.Context) step {
	address, err := dialAddress(s.probe.base)
	if err != nil {
		return step{final: results.Failf(results.FailBadRecipe, "%v", err)}
	}
	conn, err := dialTo(s.spec.UnixSocket)(ctx, "tcp", address)
	switch {
	case err != nil && s.process == nil && time.Since(s.began) > externalPatience:
		return step{final: results.Failf(results.FailReadyTimeout,
			"nothing answers at %s (%v): an external server must be running; start it, or check the key base-url", s.probe.shown, err)}
	case err != nil:
		return step{answer: err.Error()}
	}
	_ = conn.Close()
	return step{done: true}
}

// dialAddress is host and port of a base URL.
func dialAddress(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("base-url: %w", err)
	}
	port := u.Port()
	switch {
	case u.Hostname() == "":
		return "", fmt.Errorf("base-url: %q has no host: write it as http://host:8000", base)
	case port != "":
	case u.Scheme == "https":
		port = "443"
	case u.Scheme == "http":
		port = "80"
	default:
		return "", fmt.Errorf("base-url: %q: scheme %q is not http or https", base, u.Scheme)
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

func (s *Server) tryLog(context.Context) step {
	return step{done: s.log.WantedSeen(), answer: "the log's last line is " + fmt.Sprintf("%q", text.Shorten(s.log.LastLine()))}
}

func (s *Server) tryHealth(ctx context.Context) step {
	a := s.probe.ask(ctx, http.MethodGet, s.healthPath(), nil, healthTime)
	return step{done: a.ok(), final: a.final(), answer: a.String()}
}

// modelList is the part of an OpenAI model list that is used.
type modelList struct {
	Data []listedModel `json:"data"`
}

type listedModel struct {
	ID    string `json:"id"`
	Owner string `json:"owned_by"`
	Meta  struct {
		Vocab int `json:"n_vocab"` // llama-server
	} `json:"meta"`
}

// tryModel checks that the expected model is served; without an expectation
// the first one listed is taken.
func (s *Server) tryModel(ctx context.Context, strikes *int) step {
	a := s.probe.get(ctx, s.kind.ModelsPath)
	if failure := a.final(); failure != nil {
		return step{final: failure}
	}
	if a.err == nil && a.status == http.StatusNotFound {
		*strikes++
		return s.noModelList(a, *strikes)
	}
	var list modelList
	if !a.ok() || json.Unmarshal(a.body, &list) != nil || len(list.Data) == 0 {
		return step{answer: a.String()}
	}
	var names []string
	for _, model := range list.Data {
		if s.Model() == "" || sameModel(model.ID, s.Model()) {
			if wrong := s.otherFile(ctx); wrong != nil {
				return step{final: wrong}
			}
			s.served(model, model.ID == list.Data[0].ID)
			return step{done: true}
		}
		names = append(names, model.ID)
	}
	return step{final: results.Failf(results.FailWrongModel, "server at %s serves %s, not %q: check model: and served-name:",
		s.probe.shown, quoteAll(names), s.Model())}
}

// otherFile is the failure of a server that has loaded another file than the
// recipe's under its name: some take any name that they are told.
func (s *Server) otherFile(ctx context.Context) *results.Failure {
	if s.kind.ModelFile == "" || !engines.IsGGUF(s.spec.Model) || engines.LlamaModelFlag(s.spec.Model) != "-m" {
		return nil
	}
	a := s.probe.get(ctx, s.kind.ModelFile)
	var told struct {
		Path string `json:"model_path"`
	}
	known := a.ok() && json.Unmarshal(a.body, &told) == nil && told.Path != "" // older builds do not tell
	if !known || filepath.Base(told.Path) == filepath.Base(s.spec.Model) {
		return nil
	}
	return results.Failf(results.FailWrongModel, "server at %s has loaded %q, not %q: check model: and args:", s.probe.shown, told.Path, s.spec.Model)
}

func (s *Server) noModelList(a answer, strikes int) step {
	switch {
	case s.kind.ModelsMaybe:
		return step{done: true}
	case strikes < maxStrikes:
		return step{answer: a.String()}
	}
	return step{final: results.Failf(results.FailProtocol, "%s: this is no %s server: check launcher: and port:", a, s.kind.Name)}
}

// served notes which model of the list it is, and whether it is the first.
func (s *Server) served(model listedModel, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.engine, s.listedFirst = engineOf(discovered{Owner: model.Owner}), first
	if model.Meta.Vocab > 0 {
		s.engine = "llamacpp"
	}
	s.info.Model, s.vocab = model.ID, model.Meta.Vocab
	s.info.Simulated = s.info.Simulated || model.Owner == engines.SimulatorOwner
}

// sameModel compares names; a missing tag is ":latest", as ollama has it.
func sameModel(listed, expected string) bool {
	return listed == expected || strings.TrimSuffix(listed, ":latest") == strings.TrimSuffix(expected, ":latest")
}

// quoteAll quotes names for a message, the first few of them.
func quoteAll(names []string) string {
	const most = 5
	var quoted []string
	for _, name := range names[:min(most, len(names))] {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	if len(names) > most {
		quoted = append(quoted, fmt.Sprintf("and %d more", len(names)-most))
	}
	return strings.Join(quoted, ", ")
}

// tryOwner proves that whoever answers is one of our processes: with
// SO_REUSEPORT two servers can share a port without noticing.
func (s *Server) tryOwner(ctx context.Context, strikes *int) step {
	if c, ok := s.process.(*container.Container); ok && !s.spec.Container.HostNetwork() {
		answer, done := c.Publishes(ctx, s.spec.Port)
		return step{done: done, answer: answer}
	}
	tree, err := s.process.Tree()
	if err != nil {
		return step{answer: err.Error()}
	}
	host := ports.Reachable(s.spec.Host)
	ours := 0
	for _, l := range proc.System.Listeners(s.spec.Port) {
		if !l.Answers(host) {
			continue
		}
		owned := slices.ContainsFunc(tree, func(p proc.Process) bool { return proc.System.OwnsSocket(p.PID, l.Inode) })
		if !owned && !likelyOurs(tree, l.Inode) {
			*strikes++ // it may have been forked after the look at the tree
			return s.foreign(l, *strikes)
		}
		ours++
	}
	return step{done: ours > 0, answer: fmt.Sprintf("no socket of this machine listens on port %d", s.spec.Port)}
}

// likelyOurs stands in for the proof where the server's processes belong to
// another user, as those of a container often do, so that their sockets cannot
// be seen: the port was free before the start, and nobody who can be seen
// holds the socket.
func likelyOurs(tree []proc.Process, inode string) bool {
	hidden := func(p proc.Process) bool { return !proc.System.SocketsVisible(p.PID) }
	if !slices.ContainsFunc(tree, hidden) {
		return false
	}
	return len(proc.System.SocketHolders(inode)) == 0
}

// foreign is the failure of a listener outside of our process tree.
func (s *Server) foreign(l proc.Listener, strikes int) step {
	if strikes < maxStrikes {
		return step{answer: fmt.Sprintf("port %d is answered by a process that is not known", s.spec.Port)}
	}
	who := "by a process that cannot be seen from here"
	if holders := proc.System.SocketHolders(l.Inode); len(holders) > 0 {
		pid := holders[0]
		who = fmt.Sprintf("by pid %d (%s)", pid, proc.System.Program(pid))
	}
	return step{final: results.Failf(results.FailForeign, "port %d is answered %s, which this server's process %d did not start: set another port:",
		s.spec.Port, who, s.process.Info().PID)}
}
