package results

// Names of files and folders inside a run folder.
const (
	ManifestName    = "manifest.json"
	ScenarioName    = "scenario.yaml"
	PlanName        = "plan.json"
	EnvironmentName = "environment.json"
	JournalName     = "journal.jsonl"
	ResultName      = "result.json"
	RequestsName    = "requests.jsonl" // ".zst" is added when the step has ended
	CommandName     = "command.txt"
	BlockName       = "block.txt"
	SecondPassName  = "pass-2" // folder of a step, for what its second pass leaves
	ReportName      = "report.md"
	SummaryName     = "summary.csv"
	StepsName       = "steps"
	LivesName       = "lives"
	AttemptsName    = "attempts" // folders of attempts that run, or that another one has replaced
	LockName        = ".lock"
)
