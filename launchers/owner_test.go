package launchers

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
)

// This process is found by the socket on which it listens, whatever name of
// this machine the URL has.
func TestOwnerOf(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	for _, host := range []string{"127.0.0.1", "localhost"} {
		owner, err := OwnerOf(t.Context(), fmt.Sprintf("http://%s:%d/v1/", host, port))
		if err != nil || owner.PID != os.Getpid() || !slices.Equal(owner.Argv, os.Args) {
			t.Errorf("OwnerOf(%s) = %+v, %v, want this process, %q", host, owner, err, os.Args)
		}
	}
	if _, err := OwnerOf(t.Context(), fmt.Sprintf("http://192.0.2.7:%d", port)); !errors.Is(err, ErrElsewhere) {
		t.Errorf("OwnerOf(192.0.2.7) = %v, want %v", err, ErrElsewhere)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if owner, err := OwnerOf(t.Context(), fmt.Sprintf("http://127.0.0.1:%d", port)); err == nil ||
		!strings.Contains(err.Error(), "no visible process") {
		t.Errorf("OwnerOf of a closed port = %+v, %v", owner, err)
	}
	for _, url := range []string{"127.0.0.1:80", "http://", "http://host:port"} {
		if owner, err := OwnerOf(t.Context(), url); err == nil {
			t.Errorf("OwnerOf(%q) = %+v, want an error", url, owner)
		}
	}
}

func TestWithoutSecrets(t *testing.T) {
	in := []string{
		"vllm", "serve", "m", "--api-key", "a", "b", "--port", "80", "--hf-token=c", "--max-model-len",
		"5", "--api_key",
	}
	want := []string{
		"vllm", "serve", "m", "--api-key", "***", "***", "--port", "80", "--hf-token=***",
		"--max-model-len", "5", "--api_key",
	}
	if got := withoutSecrets(in); !slices.Equal(got, want) {
		t.Errorf("withoutSecrets(%q) = %q, want %q", in, got, want)
	}
	if in[4] != "a" {
		t.Error("withoutSecrets changed what it was given")
	}
}
