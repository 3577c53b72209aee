package cpus

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Set is a list of CPUs, ascending and each once.
type Set []int

// most is the highest number of a CPU that a list may have; kernels are built for 8192.
const most = 8191

// Parse reads a list as Linux writes it: "0-3,8".
func Parse(list string) (Set, error) {
	var set Set
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			last = first
		}

		from, err := number(first)
		if err != nil {
			return nil, fmt.Errorf("invalid CPU list %q: %w", list, err)
		}
		to, err := number(last)
		if err != nil {
			return nil, fmt.Errorf("invalid CPU list %q: %w", list, err)
		}
		if to < from {
			return nil, fmt.Errorf("invalid CPU list %q: the range %s ends before it begins", list, part)
		}
		for cpu := from; cpu <= to; cpu++ {
			set = append(set, cpu)
		}
	}

	slices.Sort(set)
	return slices.Compact(set), nil
}

func number(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n > most {
		return 0, fmt.Errorf("%q is not a CPU number from 0 to %d; want a list such as 0-3,8", text, most)
	}
	return int(n), nil
}

// String is the list as Linux writes it.
func (s Set) String() string {
	var parts []string
	for i := 0; i < len(s); {
		last := i
		for last+1 < len(s) && s[last+1] == s[last]+1 {
			last++
		}
		part := strconv.Itoa(s[i])
		if last > i {
			part += "-" + strconv.Itoa(s[last])
		}
		parts = append(parts, part)
		i = last + 1
	}
	return strings.Join(parts, ",")
}

// Without is the set without those of other.
func (s Set) Without(other Set) Set {
	return slices.DeleteFunc(slices.Clone(s), func(cpu int) bool { return slices.Contains(other, cpu) })
}

// Both are the CPUs that are in either of two sets and in the other.
func (s Set) Both(other Set) Set {
	return slices.DeleteFunc(slices.Clone(s), func(cpu int) bool { return !slices.Contains(other, cpu) })
}
