package fakeengine

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// SpanVariable names the environment variable with the Span of engines over
// several nodes; without it nothing goes wrong.
const SpanVariable = "BENCH_FAKE_SPAN"

// Span says what goes wrong with programs on nodes other than the first.
type Span struct {
	Never      bool   // it does not join
	Fails      bool   // it exits with code 1 at once
	DieFile    string // it kills itself with SIGKILL when there is a file of that name
	IgnoreTerm bool
	Child      bool          // it leaves a child in a session of its own
	Chunk      time.Duration // of the first: between two tokens of a stream
}

// Value is the value of SpanVariable.
func (s Span) Value() string {
	text, _ := json.Marshal(s) // plain data cannot fail
	return string(text)
}

// SpanMain plays ray, vllm or sglang on one of several nodes, as its command
// line says, and returns the exit code. Those that serve wait until all nodes
// are there; the others hold a connection to them.
func SpanMain(argv []string) int {
	if len(argv) > 2 && argv[1] == childArgument {
		return childMain(argv[2])
	}

	var faults Span
	if text, found := os.LookupEnv(SpanVariable); found {
		if err := json.Unmarshal([]byte(text), &faults); err != nil {
			fmt.Fprintln(os.Stderr, "fake engine:", err)
			return 99
		}
	}

	o := optionsOf(argv[1:])
	switch {
	case filepath.Base(argv[0]) == "ray" && o.has("--head"):
		return meetAt(net.JoinHostPort(o["--node-ip-address"], o["--port"]), 0, func() error {
			fmt.Println("Ray runtime started.")
			return nil
		})
	case filepath.Base(argv[0]) == "ray":
		return joined(o["--address"], "ray "+o["--node-ip-address"], "Ray runtime started.", faults)
	case o["--distributed-executor-backend"] == "ray":
		if err := askRay(os.Getenv("RAY_ADDRESS"), os.Getenv("VLLM_HOST_IP")); err != nil {
			fmt.Fprintln(os.Stderr, "fake engine:", err)
			return 1
		}
		return engineMain(spanConfig(argv, o, faults))
	}

	if o.has("--kv-transfer-config") {
		return nixlMain(argv, o, faults)
	}
	if o.has("--data-parallel-address") {
		return dataParallelMain(argv, o, faults)
	}

	address := o["--dist-init-addr"]
	if address == "" {
		address = net.JoinHostPort(o["--master-addr"], o["--master-port"])
	}

	nodes, _ := strconv.Atoi(o["--nnodes"])
	if o["--node-rank"] != "0" {
		return joined(address, "rank "+o["--node-rank"], "joined "+address, faults)
	}

	return meetAt(address, nodes-1, func() error {
		_, err := serve(spanConfig(argv, o, faults), argv[1:], make(chan int, 1))
		return err
	})
}

// nixlMain plays a prefill or decode server of vLLM with the NIXL connector, which
// listens for others at the side channel that its environment names.
func nixlMain(argv []string, o options, faults Span) int {
	stop := termSignal(faults.IgnoreTerm)
	if code := faults.waitForFault(stop); code != 0 {
		return code
	}

	host, port := os.Getenv("VLLM_NIXL_SIDE_CHANNEL_HOST"), os.Getenv("VLLM_NIXL_SIDE_CHANNEL_PORT")
	side, err := new(net.ListenConfig).Listen(context.Background(), "tcp", net.JoinHostPort(host, port))
	if err == nil && (host == "" || host != o["--host"]) {
		err = fmt.Errorf("VLLM_NIXL_SIDE_CHANNEL_HOST is %q, and --host %q", host, o["--host"])
	}
	if err == nil {
		_, err = serve(spanConfig(argv, o, faults), argv[1:], make(chan int, 1))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake engine: side channel:", err)
		return 1
	}
	defer side.Close()
	return faults.stay(stop, nil)
}

// dataParallelMain plays vLLM with the ranks of data parallelism on several nodes:
// a node without --headless takes requests itself.
func dataParallelMain(argv []string, o options, faults Span) int {
	address := net.JoinHostPort(o["--data-parallel-address"], o["--data-parallel-rpc-port"])
	ranks, _ := strconv.Atoi(o["--data-parallel-size"])
	local, _ := strconv.Atoi(cmp.Or(o["--data-parallel-size-local"], "1"))
	first := cmp.Or(o["--data-parallel-start-rank"], o["--data-parallel-rank"], "0")

	begin := func() error {
		_, err := serve(spanConfig(argv, o, faults), argv[1:], make(chan int, 1))
		return err
	}
	switch {
	case first == "0":
		return meetAt(address, ranks/local-1, begin)
	case !o.has("--headless"):
		if err := begin(); err != nil {
			fmt.Fprintln(os.Stderr, "fake engine:", err)
			return 1
		}
	}
	return joined(address, "rank "+first, "joined "+address, faults)
}

// spanConfig is the engine that a command line asks for.
func spanConfig(argv []string, o options, faults Span) Config {
	model := o["--model-path"]
	if at := slices.Index(argv, "serve"); model == "" && at >= 0 && at+1 < len(argv) {
		model = argv[at+1]
	}
	return Config{Model: model, Paths: VLLM(), Chunk: faults.Chunk, Counters: map[string]string{
		"requests_total":      "vllm:request_success_total",
		"output_tokens_total": "vllm:generation_tokens_total",
	}}
}

// options are those of a command line by name, with their values.
type options map[string]string

func (o options) has(name string) bool { _, found := o[name]; return found }

func optionsOf(args []string) options {
	o := options{}
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
			value = args[i+1]
		}
		o[name] = value
	}
	return o
}

// meeting is where nodes join the first.
type meeting struct {
	mu    sync.Mutex // guards what follows
	names []string
	full  chan struct{} // closed when as many are there as are waited for
	want  int
}

// meetAt listens, waits until want others have joined, does then, and stays
// until SIGTERM.
func meetAt(address string, want int, then func() error) int {
	stop := termSignal(false)
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake engine:", err)
		return 1
	}

	m := &meeting{full: make(chan struct{}), want: want}
	if want == 0 {
		close(m.full)
	}

	go m.accept(listener)
	select {
	case <-m.full:
	case <-stop:
		return 143
	case <-time.After(lifetime):
		return 1
	}

	if err := then(); err != nil {
		fmt.Fprintln(os.Stderr, "fake engine:", err)
		return 1
	}

	select {
	case <-stop:
	case <-time.After(lifetime):
	}

	return 0
}

func (m *meeting) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go m.greet(conn)
	}
}

// greet answers who joins and who asks how many have.
func (m *meeting) greet(conn net.Conn) {
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		_ = conn.Close()
		return
	}

	name := strings.TrimSpace(line)
	m.mu.Lock()
	defer m.mu.Unlock()

	switch {
	case name == "how many":
		fmt.Fprintln(conn, len(m.names))
		_ = conn.Close()
	case name == "rank 0" || m.want > 0 && slices.Contains(m.names, name):
		fmt.Fprintln(conn, "refused: there is a", name)
		_ = conn.Close()
	default:
		m.names = append(m.names, name)
		fmt.Fprintln(conn, "welcome")
		if len(m.names) == m.want {
			close(m.full)
		}
	}
}

// joined is a program of another node: it joins, says so, and stays until the
// first node's ends.
func joined(address, name, told string, faults Span) int {
	stop := termSignal(faults.IgnoreTerm)
	if code := faults.waitForFault(stop); code != 0 {
		return code
	}

	conn, answer, err := ask(address, name)
	if err != nil || answer != "welcome" {
		fmt.Fprintln(os.Stderr, "fake engine: join:", answer, err)
		return 1
	}

	fmt.Println(told)
	over := make(chan struct{})
	go func() {
		_, _ = conn.Read(make([]byte, 1))
		if !faults.IgnoreTerm {
			close(over)
		}
	}()
	return faults.stay(stop, over)
}

// waitForFault plays the faults of a start; 0: the program continues.
func (s Span) waitForFault(stop <-chan os.Signal) (code int) {
	switch {
	case s.Fails:
		fmt.Fprintln(os.Stderr, "no such fabric")
		return 1
	case s.Child && startChild(Child{Session: true, IgnoreTerm: true}) != nil:
		return 98
	case s.Never:
		<-stop
		return 143
	}
	return 0
}

// stay is the life of a program until it is stopped, over is closed or it dies.
func (s Span) stay(stop <-chan os.Signal, over <-chan struct{}) (code int) {
	ticker := time.NewTicker(20 * time.Millisecond)
	for end := time.After(lifetime); ; {
		select {
		case <-stop:
			return 143
		case <-over:
			return 1
		case <-end:
			return 1
		case <-ticker.C:
			if _, err := os.Stat(s.DieFile); s.DieFile != "" && err == nil {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		}
	}
}

// ask says a line to the first node, once that listens, and reads the answer.
func ask(address, line string) (net.Conn, string, error) {
	for end := time.Now().Add(lifetime); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		conn, err := new(net.Dialer).DialContext(context.Background(), "tcp", address)
		if err != nil {
			continue
		}
		fmt.Fprintln(conn, line)
		answer, err := bufio.NewReader(conn).ReadString('\n')
		return conn, strings.TrimSpace(answer), err
	}
	return nil, "", errors.New("nobody listens on " + address)
}

// askRay waits until Ray has a node beside the first, which all have started
// by then.
func askRay(address, host string) error {
	if host == "" {
		return errors.New("VLLM_HOST_IP is not set")
	}
	conn, answer, err := ask(address, "how many")
	if err != nil {
		return err
	}
	_ = conn.Close()
	if answer == "0" {
		return errors.New("only this node is in the cluster of ray")
	}
	return nil
}
