package direct

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/benchrig/bench/internal/inside"
	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/internal/userfile"
	"github.com/benchrig/bench/load/vllmcli"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/vllm"
)

// Save writes the result as vLLM's client does, and returns the file's path; ""
// where none was asked for.
func Save(f *vllmcli.Flags, r *results.Result, records []results.Record) (string, error) {
	if !f.SaveResult && !f.AppendResult {
		return "", nil
	}

	data, path, err := encode(f, r, records)
	if err != nil {
		return "", err
	}
	if dir := filepath.Dir(path); dir != "." {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return "", fmt.Errorf("write result: %w", err)
		}
	}

	data = secrets.Known().JSON(data)
	if f.AppendResult {
		err = appendTo(path, data)
	} else {
		err = userfile.Write(path, func(w io.Writer) error { _, err := w.Write(data); return err })
	}
	if err != nil {
		return "", fmt.Errorf("write result: %w", err)
	}

	return path, nil
}

// appendTo adds an object to a plain file, on lines of its own.
func appendTo(path string, data []byte) error {
	if err := userfile.Writable(path); err != nil {
		return err
	}
	file, err := inside.Open(filepath.Dir(path), filepath.Base(path), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	if at, err := file.Seek(0, io.SeekEnd); err == nil && at > 0 {
		data = append([]byte("\n"), data...)
	}
	_, err = file.Write(data)

	return errors.Join(err, file.Close())
}

func encode(f *vllmcli.Flags, r *results.Result, records []results.Record) (data []byte, path string, err error) {
	o := vllm.Options{
		Detailed: f.SaveDetailed, Generation: results.Generation(f.Dataset.Compat),
		Backend: f.Backend,
	}
	if f.Label != "" {
		o.Label = &f.Label
	}
	if id := f.Dataset.Tokenizer; id != "none" {
		if id == "" {
			id = r.Servers[0].Model
		}
		o.TokenizerID = &id
	}
	if o.Metadata, err = f.MetadataPairs(); err != nil {
		return nil, "", usage.Mark(err)
	}
	if o.Metrics, err = f.ShownMetrics(); err != nil {
		return nil, "", usage.Mark(err)
	}

	data, err = vllm.JSON(r, records, o)
	return data, f.ResultPath(r.Servers[0].Model, time.Now()), err
}
