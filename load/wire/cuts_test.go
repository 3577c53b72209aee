package wire

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchrig/bench/internal/loadtest"
	"github.com/benchrig/bench/load/wire/sse"
)

func TestCuts(t *testing.T) {
	const chunked = "5\r\ndata: a\n\n\r\n"
	for _, c := range []struct {
		name, waits string
		want        []int
	}{
		{"nothing", "", nil},
		{"one event", chunked, nil},
		{"two events", chunked + chunked, []int{14, 14}},
		{"a head and an event", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n" + chunked, []int{25, 14}},
		{"the start of a third", chunked + chunked + "5\r\nda", []int{14, 14, 5}},
		{"without chunks", "data: a\n\ndata: b\n\n", []int{9, 9}},
		{"events of two lines", "event: x\ndata: a\n\ndata: b\n\n", []int{18, 9}},
		{"CR LF", "data: a\r\n\r\ndata: b\r\n\r\n", []int{11, 11}},
		{"JSON lines in chunks", "8\r\n{\"a\":1}\n\r\n8\r\n{\"a\":2}\n\r\n", []int{13, 13}},
		{"too many to be read one by one", strings.Repeat(chunked, cutsMost+1), nil},
		{"no event ends", strings.Repeat("x", 100), nil},
	} {
		var k cuts
		k.find([]byte(c.waits))
		if !slices.Equal(k.sizes, c.want) {
			t.Errorf("%s: cuts %v, want %v", c.name, k.sizes, c.want)
		}
	}
}

// TestMergedSegmentsHaveOneStamp: events of one segment that are read one by one have one time,
// though each reading of the clocks finds another distance between them.
func TestMergedSegmentsHaveOneStamp(t *testing.T) {
	loadtest.OnSockets(t)
	loadtest.WithStamps(t)
	const events = 5
	client, server := tcpPair(t)
	l, err := newLoop()
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	c, stamps := &socketConn{}, newStamper(StartClock())
	read, jitter := stamps.read, int64(0)
	stamps.read = func() reading {
		r := read()
		jitter++
		r.offset, r.wall = r.offset+jitter, r.wall+jitter
		return r
	}
	var ok bool
	if c.fd, ok = ownDescriptor(client); !ok {
		t.Fatal("no descriptor")
	}
	c.stamps = stamps
	if err := l.join(c); err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	c.beginArrivals(time.Now())
	event := loadtest.Event(loadtest.Token)
	if _, err := io.WriteString(server, strings.Repeat(event, events)); err != nil {
		t.Fatal(err)
	}
	c.gap, c.due = time.Nanosecond, time.Unix(1, 0) // late: the events are read one by one
	var times []time.Duration
	for buf := make([]byte, 4096); len(times) < events; l.nowUses = 0 {
		n, at, err := l.receive(c, buf)
		if err != nil || n != len(event) {
			t.Fatalf("read of %d bytes, %v; want an event", n, err)
		}
		times = append(times, at)
	}
	if len(slices.Compact(times)) != 1 {
		t.Errorf("events of one segment at %v, want one time", times)
	}
}

// TestFloodsAreNotLookedAt: while a stream brings more than is cut, it is read without a look
// before each read.
func TestFloodsAreNotLookedAt(t *testing.T) {
	event := loadtest.Event(loadtest.Token)
	c := &socketConn{gap: 1, due: time.Unix(1, 0)}
	c.cuts.find([]byte(strings.Repeat(event, 2*cutsMost)))
	for _, step := range []struct {
		read int // events
		late bool
	}{{2 * cutsMost, false}, {cutsMost + 1, false}, {cutsMost, true}} {
		if c.cuts.uncut(step.read * len(event)); c.late(time.Now()) != step.late {
			t.Errorf("after a read of %d events: late %v, want %v", step.read, !step.late, step.late)
		}
	}
}

// TestLateReadsAreCut: of a stream that is read late, each event is a read of its own with
// the stamp of its own segment; of one in time, a read takes what is there.
func TestLateReadsAreCut(t *testing.T) {
	loadtest.OnSockets(t)
	const events = 5
	event := loadtest.Event(loadtest.Token)
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprint("late ", late), func(t *testing.T) {
			client, server := tcpPair(t)
			l, err := newLoop()
			if err != nil {
				t.Fatal(err)
			}
			defer l.close()
			c := &socketConn{}
			fd, ok := ownDescriptor(client)
			if !ok {
				t.Fatal("no descriptor")
			}
			c.fd, c.stamps = fd, newStamper(StartClock())
			if err := l.join(c); err != nil {
				t.Fatal(err)
			}
			defer c.Close()

			for range events {
				if _, err := server.Write([]byte(event)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Millisecond) // segments of their own; fewer would be no error
			}
			c.beginArrivals(time.Now())
			c.gap = time.Millisecond
			if c.due = time.Now().Add(time.Hour); late {
				c.due = time.Unix(1, 0)
			}

			var sizes []int
			var stamps []time.Duration
			buf := make([]byte, 4096)
			for !c.empty {
				n, at, err := l.receive(c, buf)
				if errors.Is(err, sse.ErrWouldBlock) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				sizes, stamps = append(sizes, n), append(stamps, at)
			}
			want := []int{events * len(event)}
			if late {
				want = slices.Repeat([]int{len(event)}, events)
			}
			if !slices.Equal(sizes, want) || !slices.IsSorted(stamps) {
				t.Errorf("reads of %v bytes stamped %v, want %v", sizes, stamps, want)
			}
		})
	}
}

// TestCutStreamsLoseNothing: what comes while late events are read one by one is
// read as well, though its edge was told before they were through.
func TestCutStreamsLoseNothing(t *testing.T) {
	loadtest.OnSockets(t)
	c, server := loopedConn(t)
	event := loadtest.Event(loadtest.Token)
	const bursts, each = 400, 2*loopReads - 4
	seen := make(chan struct{})
	go func() {
		for range bursts {
			_, _ = io.WriteString(server, strings.Repeat(event, each))
		}
		_, _ = io.WriteString(server, loadtest.EndFrame)
	}()

	buf, bytes := make([]byte, 1<<16), 0
	var err error
	c.beginArrivals(time.Now())
	c.drive(stepFunc(func() bool {
		for err == nil {
			c.gap, c.due = time.Nanosecond, time.Unix(1, 0) // always late
			var n int
			n, _, err = c.ReadStamped(buf)
			bytes += n
		}
		if errors.Is(err, sse.ErrWouldBlock) {
			err = nil
			return false
		}
		close(seen)
		return true
	}))
	select {
	case <-seen:
	case <-time.After(5 * time.Minute):
		t.Fatalf("the stream stands still after %d bytes", bytes)
	}
	c.finished()
	if want := bursts * each * len("data: "+loadtest.Token+"\n\n"); !errors.Is(err, io.EOF) || bytes != want {
		t.Errorf("the stream ended with %v after %d bytes, want EOF after %d", err, bytes, want)
	}
}
