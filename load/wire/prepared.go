package wire

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// prepared are connections of net/http that were opened before their requests are due,
// encrypted where the URL says so.
type prepared struct {
	mu    sync.Mutex
	conns map[string][]preparedConn // by the address that net/http dials
}

type preparedConn struct {
	net.Conn
	until time.Time // it is not used later
}

// take returns a connection to addr that is ready; nil: there is none. Those that waited
// too long or that the server closed are dropped.
func (p *prepared) take(addr string) net.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conns := p.conns[addr]; len(conns) > 0; conns = p.conns[addr] {
		c := conns[len(conns)-1]
		p.conns[addr] = conns[:len(conns)-1]
		if time.Now().Before(c.until) && !underneath(c.Conn).ended() {
			return c.Conn
		}
		_ = c.Close()
	}
	return nil
}

// put keeps a connection to addr for at most limit.
func (p *prepared) put(addr string, c net.Conn, limit time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conns == nil {
		p.conns = map[string][]preparedConn{}
	}
	p.conns[addr] = append(p.conns[addr], preparedConn{c, time.Now().Add(limit)})
}

func (p *prepared) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conns := range p.conns {
		for _, c := range conns {
			_ = c.Close()
		}
	}
	p.conns = nil
}

// inAdvance calls open n times within limit, preparingWidth at a time; i counts the
// calls. An error ends the worker that met it: the server seems to refuse more.
func inAdvance(ctx context.Context, n int, limit time.Duration, open func(ctx context.Context, i int) error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, preparingWidth) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if open(ctx, i) != nil {
					return
				}
			}
		})
	}
	workers.Wait()
}
