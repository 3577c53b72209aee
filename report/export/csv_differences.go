package export

// DifferencesName is the file of a run folder with the comparison of its
// variants; it is there where there are two of them, and repeats.
const DifferencesName = "differences.csv"
