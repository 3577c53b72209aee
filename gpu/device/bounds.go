package device

// Share takes 0 to 1.
func Share(v *float64) *float64 { return within(v, 0, 1) }

// Celsius takes what a working chip can have; 0 stands for no sensor.
func Celsius(v *float64) *float64 { return within(v, 0.001, 200) }

// Positive takes what is more than 0: power and energy of 0 stand for no
// sensor, a clock of 0 for one that is stopped.
func Positive(v *float64) *float64 { return within(v, 1e-9, 1e15) }

func within(v *float64, low, high float64) *float64 {
	if v == nil || !(*v >= low && *v <= high) {
		return nil
	}
	return v
}
