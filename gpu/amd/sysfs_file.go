package amd

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/benchrig/bench/gpu/device"
)

// sysfsGPU is a GPU with its files open. A file that is not there is nil.
type sysfsGPU struct {
	amdGPU
	status, table          *sysfsFile
	vram, gtt, bankUsed    *sysfsFile
	busy, memoryBusy       *sysfsFile
	power                  []powerSensor
	limit                  *sysfsFile
	core, memory           *sysfsFile
	coreTable, memoryTable *sysfsFile
	edge, hotspot          *sysfsFile
	memoryHot              *sysfsFile

	before *residency // of the last reading
}

// powerSensor is a file of microwatts, over a time or at one moment.
type powerSensor struct {
	file *sysfsFile
	kind string
}

// openSysfsGPU opens what there is. Opening wakes no GPU.
func openSysfsGPU(gpu amdGPU) *sysfsGPU {
	in := func(name string) *sysfsFile { return openSysfs(gpu.folder, name) }
	g := &sysfsGPU{
		amdGPU: gpu,
		status: in("power/runtime_status"), table: in("gpu_metrics"),
		vram: in("mem_info_vram_used"), gtt: in("mem_info_gtt_used"),
		busy: in("gpu_busy_percent"), memoryBusy: in("mem_busy_percent"),
	}

	if gpu.node.folder != "" {
		g.bankUsed = openSysfs(gpu.node.folder, "mem_banks/0/used_memory")
	}

	g.openSensors()
	if g.core == nil {
		g.coreTable = in("pp_dpm_sclk")
	}
	if g.memory == nil {
		g.memoryTable = in("pp_dpm_mclk")
	}

	return g
}

// openSensors opens the files of hwmon. Which number stands for what is in
// label files; without one it is the order of old drivers.
func (g *sysfsGPU) openSensors() {
	folders, _ := filepath.Glob(filepath.Join(g.folder, "hwmon/hwmon*")) // the pattern is well-formed
	if len(folders) == 0 {
		return
	}

	slices.Sort(folders)
	folder := folders[0]
	for _, sensor := range []powerSensor{
		{openSysfs(folder, "power1_average"), "average"},
		{openSysfs(folder, "power1_input"), "instant"},
	} {
		if sensor.file != nil {
			g.power = append(g.power, sensor)
		}
	}

	g.limit = openSysfs(folder, "power1_cap")
	sensors := labelled(folder, "temp", []string{"edge", "junction", "mem"})
	g.edge, g.hotspot, g.memoryHot = sensors["edge"], sensors["junction"], sensors["mem"]
	clocks := labelled(folder, "freq", []string{"sclk", "mclk"})
	g.core, g.memory = clocks["sclk"], clocks["mclk"]
}

// labelled opens files such as temp2_input by their labels. usual are the
// labels of the numbers from 1 on where there are no label files.
func labelled(folder, kind string, usual []string) map[string]*sysfsFile {
	files := map[string]*sysfsFile{}
	const most = 8
	for n := 1; n <= most; n++ {
		prefix := kind + strconv.Itoa(n)
		fallback := ""
		if n <= len(usual) {
			fallback = usual[n-1]
		}
		label := cmp.Or(device.ReadText(filepath.Join(folder, prefix+"_label")), fallback)
		if slices.Contains(usual, label) && files[label] == nil {
			files[label] = openSysfs(folder, prefix+"_input")
		}
	}
	return files
}

func (g *sysfsGPU) close() {
	files := []*sysfsFile{
		g.status, g.table, g.vram, g.gtt, g.bankUsed, g.busy, g.memoryBusy, g.limit, g.core, g.memory,
		g.coreTable, g.memoryTable, g.edge, g.hotspot, g.memoryHot,
	}
	for _, sensor := range g.power {
		files = append(files, sensor.file)
	}
	for _, file := range files {
		if file != nil {
			file.file.Close()
		}
	}
}

// sysfsFile is an attribute that is kept open; reading it from its start makes
// the driver write it again. A nil one has no value.
type sysfsFile struct{ file *os.File }

func openSysfs(folder, name string) *sysfsFile {
	file, err := os.Open(filepath.Join(folder, name))
	if err != nil {
		return nil
	}
	return &sysfsFile{file}
}

// bytes reads the attribute into the buffer; nil if it gives nothing.
func (f *sysfsFile) bytes(buffer []byte) []byte {
	if f == nil {
		return nil
	}
	n, _ := f.file.ReadAt(buffer, 0) // the end of the file is an error too
	if n == 0 {
		return nil
	}
	return buffer[:n]
}

// scaled reads a number and divides it.
func (f *sysfsFile) scaled(buffer []byte, by float64) *float64 {
	n, ok := wholeNumber(f.bytes(buffer))
	if !ok {
		return nil
	}
	return new(float64(n) / by)
}

// bytesUsed reads a number of bytes.
func (f *sysfsFile) bytesUsed(buffer []byte) *int64 {
	n, ok := wholeNumber(f.bytes(buffer))
	if !ok {
		return nil
	}
	return &n
}

// selectedClock reads a table of clocks, "1: 500Mhz *", of which a star marks
// the one in use, in Hz.
func (f *sysfsFile) selectedClock(buffer []byte) *float64 {
	return selectedClock(f.bytes(buffer))
}

func selectedClock(table []byte) *float64 {
	for line := range bytes.Lines(table) {
		text, star := bytes.CutSuffix(bytes.TrimSpace(line), []byte("*"))
		_, clock, ok := bytes.Cut(text, []byte(":"))
		clock = bytes.TrimSpace(clock)
		if len(clock) < 3 || !star || !ok || !bytes.EqualFold(clock[len(clock)-3:], []byte("mhz")) {
			continue
		}
		if n, ok := wholeNumber(clock[:len(clock)-3]); ok {
			return new(float64(n) * 1e6)
		}
	}
	return nil
}

// wholeNumber reads the decimal number that is all of the first line.
func wholeNumber(text []byte) (int64, bool) {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	line = bytes.TrimSpace(line)
	const most = 18 // digits that fit for certain
	if len(line) == 0 || len(line) > most {
		return 0, false
	}
	var n int64
	for _, digit := range line {
		if digit < '0' || digit > '9' {
			return 0, false
		}
		n = 10*n + int64(digit-'0')
	}
	return n, true
}
