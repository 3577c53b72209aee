package store

import (
	"testing"
	"time"

	"github.com/benchrig/bench/results"
)

func BenchmarkRecordWriter(b *testing.B) {
	w, err := NewRecordWriter(b.TempDir(), time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	record := someRecord(1)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Write(record); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkSampleWriter(b *testing.B) {
	w, err := NewSampleWriter(b.TempDir(), results.TelemetryName, time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	sample := samples()[0]
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Write(sample); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if err := w.Discard(); err != nil {
		b.Fatal(err)
	}
}
