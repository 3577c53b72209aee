package fakeengine

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// disguise hides who a child is, as engines' processes do.
func disguise(child Child) error {
	if child.Name != "" {
		if err := os.WriteFile("/proc/self/comm", []byte(child.Name), 0); err != nil {
			return err
		}
	}
	if child.Clobber {
		return clobber()
	}
	return nil
}

// clobber fills the memory that /proc/self/cmdline and environ show.
func clobber() error {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return err
	}

	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const first, argStart, envEnd = 3, 48, 51 // numbers of proc(5)
	begin, err := strconv.ParseInt(fields[argStart-first], 10, 64)
	if err != nil {
		return err
	}

	end, err := strconv.ParseInt(fields[envEnd-first], 10, 64)
	if err != nil {
		return err
	}
	if begin == 0 || end <= begin {
		return fmt.Errorf("the kernel says that arguments and environment lie from %d to %d", begin, end)
	}

	memory, err := os.OpenFile("/proc/self/mem", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer memory.Close()

	title := append([]byte("VLLM::Worker"), make([]byte, end-begin)...)
	_, err = memory.WriteAt(title[:end-begin], begin)
	return err
}
