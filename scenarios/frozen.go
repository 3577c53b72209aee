package scenarios

import "slices"

// ForgetDatasets makes the scenario need no file of prompts: they are there
// already, as an earlier run has sent them.
func (s *Scenario) ForgetDatasets() {
	for i := range s.Points {
		s.Points[i].Dataset.Path = ""
	}
	s.locals = slices.DeleteFunc(s.locals, func(l localPath) bool { return l.what == DatasetFile })
}
