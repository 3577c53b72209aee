package direct

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/internal/usage"
	"github.com/benchrig/bench/load/vllmcli"
	"github.com/benchrig/bench/results"
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

	mode := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if f.AppendResult {
		mode = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}

	file, err := os.OpenFile(path, mode, 0o666)
	if err != nil {
		return "", fmt.Errorf("write result: %w", err)
	}
	if at, err := file.Seek(0, 2); err == nil && at > 0 {
		data = append([]byte("\n"), data...) // objects of an appended file stand on lines of their own
	}

	_, err = file.Write(secrets.Known().JSON(data))
	if err := errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("write result: %w", err)
	}

	return path, nil
}

func encode(f *vllmcli.Flags, r *results.Result, records []results.Record) (data []byte, path string, err error) {
	o := results.VLLMOptions{
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

	data, err = results.VLLMJSONWith(r, records, o)
	return data, f.ResultPath(r.Servers[0].Model, time.Now()), err
}
