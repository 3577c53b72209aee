package wire

import (
	"crypto/x509"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"
)

func urlsOf(t *testing.T, texts ...string) []*url.URL {
	t.Helper()
	var all []*url.URL
	for _, text := range texts {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, u)
	}
	return all
}

func rootsOf(s *httptest.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return pool
}

// TestWatchkeeping: what a look finds arrived after the one before that found all
// there was, and what a wait brings arrived in it.
func TestWatchkeeping(t *testing.T) {
	base := time.Now()
	at := func(ms float64) time.Time { return base.Add(time.Duration(ms * float64(time.Millisecond))) }
	k := watchkeeping{looked: at(0), starve: starvation{fd: -1}}
	for _, step := range []struct {
		name string
		do   func()
		want time.Time
	}{
		{"the first look", func() { k.found(at(1), true) }, at(0)},
		{"the next", func() { k.found(at(3), true) }, at(1)},
		{"one that left some", func() { k.found(at(5), false) }, at(3)},
		{"after it", func() { k.found(at(6), true) }, at(3)},
		{"a short wait", func() { k.waited(at(7), at(7.5)) }, at(7)},
		{"after it", func() { k.found(at(8), true) }, at(7)},
		{"a long wait of which nothing is known", func() { k.waited(at(9), at(60)) }, at(9)},
	} {
		if step.do(); !k.floor.Equal(step.want) {
			t.Errorf("%s: nothing arrived before %v, want %v", step.name, k.floor.Sub(base), step.want.Sub(base))
		}
	}
}

// TestArrivalOfConn: a connection's bytes came after it was last empty, and after
// the loop last looked.
func TestArrivalOfConn(t *testing.T) {
	base := time.Now()
	at := func(ms int) time.Time { return base.Add(time.Duration(ms) * time.Millisecond) }
	c := &socketConn{loop: &loop{}, stamps: &stamper{clock: Clock{Start: base}}}
	c.beginArrivals(at(5))
	check := func(name string, want int) {
		t.Helper()
		if got := c.Arrival(); !got.Known || got.NotBefore != time.Duration(want)*time.Millisecond {
			t.Errorf("%s: %+v, want not before %d ms", name, got, want)
		}
	}
	check("just sent", 5)
	c.announced(at(3))
	check("the loop looked before it was sent", 5)
	c.emptied, c.drained = at(8), true
	c.announced(at(9))
	check("the loop looked when it was empty", 9)
	c.announced(at(12))
	check("more came before it was empty", 9)
	if got := (&socketConn{}).Arrival(); got.Known {
		t.Errorf("without a loop: %+v, want that nothing is known", got)
	}
}
