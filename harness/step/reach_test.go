package step

import (
	"slices"
	"testing"

	"github.com/benchrig/bench/scenarios"
)

func TestReachable(t *testing.T) {
	urls := []string{"http://127.0.0.1:8000", "http://[::1]:8001/v1", "http://other:8000", "http://localhost:1"}
	for _, test := range []struct {
		client scenarios.Client
		want   []string
	}{
		{scenarios.Client{Reach: "box"}, urls}, // the client is here
		{scenarios.Client{Hosts: []string{"h"}, Reach: "box"}, []string{
			"http://box:8000", "http://box:8001/v1",
			"http://other:8000", "http://box:1",
		}},
		{scenarios.Client{Hosts: []string{"h"}, Reach: "fd00::1"}, []string{
			"http://[fd00::1]:8000",
			"http://[fd00::1]:8001/v1", "http://other:8000", "http://[fd00::1]:1",
		}},
	} {
		if got := reachable(test.client, urls); !slices.Equal(got, test.want) {
			t.Errorf("reachable(%+v) = %v, want %v", test.client, got, test.want)
		}
	}
}
