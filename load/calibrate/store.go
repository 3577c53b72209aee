package calibrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/benchrig/bench/internal/proc"
	"github.com/benchrig/bench/internal/userfile"
	"github.com/benchrig/bench/results"
)

// DefaultPath is where the calibration of this machine is kept.
func DefaultPath() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache folder: %w", err)
	}
	return filepath.Join(cache, "bench", "calibration.json"), nil
}

// Save writes a calibration. The file is whole or as it was.
func Save(path string, cal results.Calibration) error {
	raw, err := json.MarshalIndent(cal, "", "  ")
	if err != nil {
		return fmt.Errorf("encode calibration: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("save calibration: %w", err)
	}

	err = userfile.Write(path, func(w io.Writer) error { _, err := w.Write(append(raw, '\n')); return err })
	if err != nil {
		return fmt.Errorf("save calibration: %w", err)
	}
	return nil
}

// loadCalibration reads a calibration.
func loadCalibration(path string) (*results.Calibration, error) {
	raw, err := userfile.Read(path, userfile.MaxText)
	if err != nil {
		return nil, fmt.Errorf("load calibration: %w", err)
	}
	var cal results.Calibration
	if err := json.Unmarshal(raw, &cal); err != nil {
		return nil, fmt.Errorf("load calibration %s: %w; run \"bench calibrate\" again", path, err)
	}
	return &cal, nil
}

// Stored is the calibration of this machine, nil if it was never calibrated or
// has another processor now.
func Stored() (*results.Calibration, error) {
	path, err := DefaultPath()
	if err != nil {
		return nil, nil //nolint:nilerr // without a cache folder nothing can be stored
	}
	cal, err := loadCalibration(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case cal.CPU != proc.System.CPU().Model:
		return nil, nil
	}
	return cal, nil
}
