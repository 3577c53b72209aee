package simserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// keepAlive is how long an idle connection stays open; uvicorn and llama-server
// have 5 s both.
const keepAlive = 5 * time.Second

// Run serves until ctx ends, then refuses new connections, lets streams in
// flight finish within Config.ShutdownTimeout, and returns nil. It returns an
// error where the settings are wrong or the port is taken, a *MemoryError where
// the simulated memory does not hold the model, and a *CrashError where a crash
// fault struck and Config.Exit did not end the process. log gets the lines that
// an engine would write; its first one says that this is a simulator.
func Run(ctx context.Context, cfg simengine.Config, log io.Writer) error {
	l := &logger{w: log, plain: cfg.Persona == simengine.PersonaLlamaCpp}
	l.raw(disclaimer)
	s, err := cfg.Resolve()
	if err != nil {
		return logStartError(l, err)
	}
	r := &runner{log: l, crashed: make(chan struct{})}
	r.server = newServer(s, l, r.crash)
	return r.run(ctx)
}

// logStartError writes the fatal lines that an engine would.
func logStartError(l *logger, err error) error {
	var memory *simengine.MemoryError
	if !errors.As(err, &memory) {
		return err
	}
	if l.plain {
		l.error("llama_model_load: error loading model: unable to allocate buffer: %s", memory.LogLine)
		l.error("main: exiting due to model loading error")
	} else {
		l.error("EngineCore failed to start.")
		l.error("%s", memory.LogLine)
		l.error("Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore_DP0': 1}")
	}
	return err
}

// runner is one life of a server.
type runner struct {
	server *server
	log    *logger

	once    sync.Once
	crashed chan struct{}         // closed when a crash fault struck
	failure *simengine.CrashError // set before crashed is closed
}

// crash ends the server at once, as far as Exit lets it.
func (r *runner) crash(kind simengine.FaultKind) {
	r.once.Do(func() {
		r.failure = &simengine.CrashError{Fault: kind, Code: 1}
		switch kind {
		case simengine.FaultExit0:
			r.failure.Code = 0
			r.log.error("EngineCore encountered a fatal error.")
			r.log.error("AsyncLLM output_handler failed: EngineDeadError: EngineCore encountered an issue. See stack " +
				"trace (above) for the root cause.")
		case simengine.FaultOOM:
			_ = logStartError(r.log, &simengine.MemoryError{LogLine: simengine.OutOfMemoryLine(r.server.cfg.Hardware) +
				" Tried to allocate 2.00 GiB (simulated fault)."})
		default:
			r.log.error("EngineCore encountered a fatal error. (simulated fault)")
			if r.server.cfg.FaultText != "" {
				r.log.error("%s", r.server.cfg.FaultText)
			}
		}

		if r.server.cfg.Exit != nil {
			r.server.cfg.Exit(r.failure.Code)
		}

		close(r.crashed)
	})
}

func (r *runner) run(ctx context.Context) error {
	cfg := r.server.cfg
	p, err := bindPort(cfg.Host, cfg.Port)
	if err != nil {
		return r.logPortTaken(err)
	}
	defer p.close()

	if !r.server.llamaCpp() {
		if err := r.load(ctx); err != nil {
			return ignoreCancel(err)
		}
	}

	listener, err := p.listen()
	if err != nil {
		return r.logPortTaken(err)
	}

	return r.serve(ctx, listener, p.addr)
}

func (r *runner) logPortTaken(err error) error {
	if errors.Is(err, unix.EADDRINUSE) {
		r.log.error("[Errno 98] error while attempting to bind on address ('%s', %d): address already in use",
			r.server.cfg.Host, r.server.cfg.Port)
	}
	return err
}

func ignoreCancel(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// load writes the milestones of a start, each when it is due.
func (r *runner) load(ctx context.Context) error {
	cfg := r.server.cfg
	whole := time.Duration(float64(cfg.LoadTime)/cfg.Speed) + cfg.StartDelay()
	milestones := engineLog{r.server}.milestones(whole)
	total := whole
	if !r.server.llamaCpp() {
		total = time.Duration(float64(whole) * (othersShare + engineLog{r.server}.compileShare()))
	}
	begin := time.Now()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()

	for _, m := range milestones {
		if !simengine.WaitUntil(ctx, timer, begin.Add(time.Duration(m.at*float64(total)))) {
			return ctx.Err()
		}
		if m.at > 0 && cfg.HasFault(simengine.FaultOOM) {
			r.crash(simengine.FaultOOM)
			return r.failure
		}
		r.log.info("%s", m.text)
	}

	engineLog{r.server}.keepCompiled()
	return nil
}

// serve runs the engine and answers requests on l. llama-server answers 503
// while it loads, so there loading happens here.
func (r *runner) serve(ctx context.Context, l net.Listener, addr string) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()

	web := &http.Server{
		Handler: r.server.handler(), IdleTimeout: keepAlive, ReadHeaderTimeout: time.Minute,
		ErrorLog: stdlog.New(io.Discard, "", 0),
	}

	served := make(chan error, 1)
	work.Go(func() { served <- web.Serve(l) })
	work.Go(func() { r.server.engine.Run(background) })
	work.Go(func() { engineLog{r.server}.logStats(background) })

	err := r.becomeReady(ctx, addr)
	if err == nil {
		select {
		case <-ctx.Done():
			r.drain(ctx, web)
		case <-r.crashed:
			err = r.failure
		case e := <-served:
			err = fmt.Errorf("serve on %s: %w", addr, e)
		}
	}

	_ = web.Close()
	r.server.gate.Lock() // never given back: waits for handlers, and lets no new one in
	return ignoreCancel(err)
}

func (r *runner) becomeReady(ctx context.Context, addr string) error {
	if r.server.llamaCpp() {
		r.listening(addr)
		if err := r.load(ctx); err != nil {
			return err
		}
	}
	r.server.ready.Store(true)
	engineLog{r.server}.logReady(addr)
	if !r.server.llamaCpp() {
		r.listening(addr)
	}
	return nil
}

func (r *runner) listening(addr string) {
	if r.server.cfg.OnListen != nil {
		r.server.cfg.OnListen(addr)
	}
}

// drain lets requests in flight finish.
func (r *runner) drain(ctx context.Context, web *http.Server) {
	r.log.raw("INFO:     Shutting down")
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.server.cfg.ShutdownTimeout)
	defer cancel()
	if web.Shutdown(limit) != nil {
		r.log.warn("%s", "requests in flight were cut off after the shutdown timeout")
		return
	}
	r.log.raw("INFO:     Application shutdown complete.")
}
