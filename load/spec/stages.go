package spec

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Stage is a part of a load, by time, with a rate or a cap of its own.
type Stage struct {
	Name string `json:"name"`
	// requests/s, 0: none; null: as many at once as the cap allows
	RequestRate    *float64      `json:"request_rate,omitempty"`
	MaxConcurrency int           `json:"max_concurrency,omitempty"` // requests in flight; 0: the load's cap
	Duration       time.Duration `json:"duration_ns"`
}

// String is "peak 20 requests/s for 30s".
func (s Stage) String() string {
	return s.Name + " " + s.pace() + " for " + s.Duration.String()
}

// pace is "20 requests/s" or "concurrency 8".
func (s Stage) pace() string {
	if s.RequestRate != nil {
		return strconv.FormatFloat(*s.RequestRate, 'g', -1, 64) + " requests/s"
	}
	return "concurrency " + strconv.Itoa(s.MaxConcurrency)
}

// StagesLast is how long stages last together.
func StagesLast(stages []Stage) time.Duration {
	sum := time.Duration(0)
	for _, s := range stages {
		sum += s.Duration
	}
	return sum
}

// PeakConcurrency is the largest cap of stages with caps; 0: their rates decide.
func PeakConcurrency(stages []Stage) int {
	peak := 0
	for _, s := range stages {
		peak = max(peak, s.MaxConcurrency)
	}
	return peak
}

// CheckStages refuses stages that cannot be carried out. Either all of them have a
// rate, or all a cap.
func CheckStages(stages []Stage) error {
	if len(stages) == 0 {
		return nil
	}

	requests, byRate := 0.0, stages[0].RequestRate != nil
	names := map[string]bool{}
	for _, s := range stages {
		rate := s.RequestRate
		switch {
		case s.Duration <= 0:
			return fmt.Errorf("stage %s lasts %v: want more than 0", s.Name, s.Duration)
		case names[s.Name]:
			return fmt.Errorf("two stages are named %q", s.Name)
		case (rate != nil) == (s.MaxConcurrency > 0):
			return fmt.Errorf("stage %s: want either a request rate or a cap of requests in flight", s.Name)
		case (rate != nil) != byRate:
			return fmt.Errorf("stage %s has %s: either all stages have a request rate, or all have a cap", s.Name,
				s.pace())
		case rate != nil && *rate != 0 && !(*rate >= minRate && *rate <= maxRate):
			return fmt.Errorf("stage %s has %g requests/s: want 0, or %g to %g", s.Name, *rate, minRate, maxRate)
		}
		names[s.Name] = true
		if rate != nil {
			requests += *rate * s.Duration.Seconds()
		}
	}

	switch {
	case byRate && requests == 0:
		return errors.New("no stage has a request rate above 0")
	case requests > MaxArrivals:
		return fmt.Errorf("the stages make %.3g requests: want at most %d", requests, MaxArrivals)
	case StagesLast(stages) > math.MaxInt64/4 || StagesLast(stages) < 0:
		return errors.New("the stages last too long")
	}
	return nil
}
