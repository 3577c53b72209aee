package engines

import (
	"strings"
	"testing"

	"github.com/benchrig/bench/launchers/recipe"
)

func TestCommandNamesPeers(t *testing.T) {
	t.Parallel()
	peers := []recipe.Peer{
		{Component: "prefill", Host: "127.0.0.1", Port: 8000, SideChannel: 5600},
		{Component: "prefill", Host: "127.0.0.1", Port: 8001, SideChannel: 5620},
		{Component: "decode", Host: "::1", Port: 8002},
	}
	for _, test := range []struct{ command, want, err string }{
		{"r --prefill ${prefill.url}", "r --prefill http://127.0.0.1:8000 --prefill http://127.0.0.1:8001", ""},
		{"r --decode ${decode.url} -x", "r --decode http://[::1]:8002 -x", ""},
		{
			"r --prefill ${prefill.url} ${prefill.bootstrap-port} --end",
			"r --prefill http://127.0.0.1:8000 5600 --prefill http://127.0.0.1:8001 5620 --end", "",
		},
		{"r --hosts ${prefill.hosts} --ports ${prefill.ports}", "r --hosts 127.0.0.1 127.0.0.1 --ports 8000 8001", ""},
		{"r --to=${prefill.urls}", "r --to=http://127.0.0.1:8000,http://127.0.0.1:8001", ""},
		{"r --to=${prefill.address}", "r --to=127.0.0.1:8000 --to=127.0.0.1:8001", ""},
		{"r ${prefill.port} ${decode.port}", "r 8000 8001 8002", ""},
		{"r ${router.url}", "", `no component "router" is listed before this one`},
		{"r ${decode.colour}", "", "${decode.colour} in \"${decode.colour}\" is unknown: a component has url, urls"},
		{"r ${decode.port}-${prefill.port}", "", "names servers of decode and of prefill"},
	} {
		got, err := commandKind().Command(recipe.Spec{Command: strings.Fields(test.command), Peers: peers})
		switch {
		case test.err != "":
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%q: error = %v, want %q in it", test.command, err, test.err)
			}
		case err != nil:
			t.Errorf("%q: %v", test.command, err)
		case strings.Join(got.Argv, " ") != test.want:
			t.Errorf("%q becomes %q, want %q", test.command, got.Argv, test.want)
		}
	}
}
