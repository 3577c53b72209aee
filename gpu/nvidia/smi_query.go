package nvidia

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/benchrig/bench/gpu/device"
)

// smiRenamed maps a name to the one that older drivers have.
var smiRenamed = map[string]string{
	"clocks_event_reasons.active": "clocks_throttle_reasons.active",
	"pci.bus_id":                  "gpu_bus_id",
}

// smiFields chooses from wanted what this nvidia-smi knows, since one name
// that it does not know makes a whole query fail. Where it does not print its
// list, wanted stays as it is.
func smiFields(ctx context.Context, run device.ToolRunner, wanted []string) []string {
	out, err := run(ctx, []string{"nvidia-smi", "--help-query-gpu"})
	known := smiHelpFields(out)
	if err != nil || len(known) == 0 {
		return slices.Clone(wanted)
	}

	var fields []string
	for _, field := range wanted {
		switch older := smiRenamed[field]; {
		case known[field]:
			fields = append(fields, field)
		case older != "" && known[older]:
			fields = append(fields, older)
		}
	}

	return fields
}

// smiHelpFields collects the names in quotes at the beginning of lines of
// --help-query-gpu: `"clocks.current.sm" or "clocks.sm"`.
func smiHelpFields(out []byte) map[string]bool {
	fields := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, `"`) {
			continue
		}
		for i, part := range strings.Split(line, `"`) {
			if i%2 == 1 && part != "" && !strings.Contains(part, " ") {
				fields[part] = true
			}
		}
	}
	return fields
}

// smiUnknownField is how nvidia-smi complains.
var smiUnknownField = regexp.MustCompile(`Field "([^"]+)" is not a valid field`)

// smiAsk queries GPUs for fields and returns the table with the fields that
// the tool took. Names that it refuses are dropped, or asked for by their
// older name.
func smiAsk(ctx context.Context, run device.ToolRunner, fields []string) (smiTable, []string, error) {
	fields = slices.Clone(fields)
	for len(fields) > 0 {
		out, err := run(ctx, smiArgv(fields))
		table, unread := parseSMITable(out)
		// it ends with an error where it has lost one GPU of several
		if err == nil || unread == nil && len(table.rows) > 0 {
			return table, fields, unread
		}
		refused := smiUnknownField.FindSubmatch(out)
		at := -1
		if refused != nil {
			at = slices.Index(fields, string(refused[1]))
		}
		if at < 0 {
			return smiTable{}, nil, smiError(out, err)
		}
		if older := smiRenamed[fields[at]]; older != "" {
			fields[at] = older
		} else {
			fields = slices.Delete(fields, at, at+1)
		}
	}

	return smiTable{}, nil, fmt.Errorf("nvidia-smi knows none of the requested fields")
}

func smiArgv(fields []string) []string {
	return []string{"nvidia-smi", "--query-gpu=" + strings.Join(fields, ","), "--format=csv"}
}

// smiError words a failed call; the tool's own words are on its stdout.
func smiError(out []byte, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("nvidia-smi: %w", err)
	}
	if words := device.FirstLine(out); words != "" {
		return fmt.Errorf("nvidia-smi: %w: %s", err, words)
	}
	return fmt.Errorf("nvidia-smi: %w", err)
}
