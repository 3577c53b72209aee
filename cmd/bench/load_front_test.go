package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/benchrig/bench/internal/freeport"
)

// TestLoadScripts runs bench load over what the simulator does not offer
// itself: TLS, a Unix socket, a tokenizer's file.
func TestLoadScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/load",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PORT", strconv.Itoa(freeport.Take(t, 1)))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"front":         front,
			"tokenizerfile": tokenizerFile,
		},
	})
}

// front tls CERT VAR listens with TLS on a free port of loopback, and front
// unix FILE on a Unix socket. Each connection goes on to $PORT. The certificate
// is written to CERT, the port to VAR.
func front(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: front tls CERT VAR | front unix FILE")
	}
	var l net.Listener
	var err error
	switch args[0] {
	case "tls":
		cert := selfSigned(ts)
		l, err = tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
		ts.Check(err)
		block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), block, 0o600))
		ts.Setenv(args[2], strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	case "unix":
		l, err = net.Listen("unix", ts.MkAbs(args[1]))
		ts.Check(err)
	default:
		ts.Fatalf("front %s is unknown", args[0])
	}
	port := ts.Getenv("PORT")
	ts.Defer(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go relay(conn, port)
		}
	}()
}

// relay carries bytes between conn and a port of loopback until one of them
// ends.
func relay(conn net.Conn, port string) {
	defer conn.Close()
	server, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, conn)
		server.Close()
	}()
	_, _ = io.Copy(conn, server)
}

func selfSigned(ts *testscript.TestScript) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	ts.Check(err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// tokenizerFile FILE writes a byte-level tokenizer.json with a token for each
// byte and a few merges.
func tokenizerFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: tokenizerfile FILE")
	}
	vocab := map[string]int{}
	next := rune(256)
	for b := range rune(256) {
		shown := b
		if b <= ' ' || b > '~' && b < '\u00a1' || b == '\u00ad' {
			shown, next = next, next+1
		}
		vocab[string(shown)] = len(vocab)
	}
	merges := []string{"t h", "th e", "i n", "a n", "Ġ a"}
	for _, token := range []string{"th", "the", "in", "an", "Ġa"} {
		vocab[token] = len(vocab)
	}
	level := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}
	raw, err := json.Marshal(map[string]any{
		"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": []any{}, "normalizer": nil,
		"pre_tokenizer": level, "post_processor": nil, "decoder": level,
		"model": map[string]any{
			"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil,
			"end_of_word_suffix": nil,
			"fuse_unk":           false, "byte_fallback": false, "ignore_merges": false, "vocab": vocab,
			"merges": merges,
		},
	})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), raw, 0o600))
	fmt.Fprintln(ts.Stdout(), len(vocab))
}
