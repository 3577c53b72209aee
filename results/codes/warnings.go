package codes

import "github.com/benchrig/bench/results"

func warning(code results.WarningCode, severity Severity, meaning, why, do string) Entry {
	return Entry{string(code), severity, meaning, why, do}
}

func warnings() []Entry {
	return append(append(warningsOfRequests(), warningsOfMachine()...), warningsOfRecipe()...)
}

// warningsOfRequests are about what was sent and what came back.
func warningsOfRequests() []Entry { //nolint:funlen // a table
	return []Entry{
		warning(results.WarnInterrupted, Disqualifies,
			"The pass ended before all requests were sent.",
			"The figures cover the beginning of the load only.",
			"Run the step again: bench resume repeats it."),
		warning(results.WarnFailures, Disqualifies,
			"Some requests failed.",
			"Failed requests free capacity for the others, so that latencies look better than they are.",
			"Read the failures by class in the step's report; reduce the load, or mend what made them fail."),
		warning(results.WarnShortOutput, Limits,
			"Answers have less than 95 % of the output tokens that were asked for. With ignore-eos the step is "+
				"suspect.",
			"Shorter answers make requests cheaper, so throughput and latency are not those of the intended load.",
			"Check max-model-len and stop settings; use ignore-eos for answers of equal length."),
		warning(results.WarnLongOutput, Disqualifies,
			"Answers have more tokens than the request allowed.",
			"The server does not know the field that limits an answer, so it does other work than the load asks for.",
			"Name the field that the server knows (load: max-tokens-field, or body:), or use its own API."),
		warning(results.WarnTokenSource, Limits,
			"Output tokens of some answers were not counted by the server. If chunks were counted instead, the step "+
				"is suspect.",
			"A chunk may hold several tokens, so token rates may be wrong.",
			"Use a server that reports usage, or name a tokenizer for the dataset."),
		warning(results.WarnInputMismatch, Limits,
			"The server counted other prompt lengths than the dataset has.",
			"Chat templates, special tokens or another tokenizer change how much work a prompt is.",
			"Name the model's own tokenizer, or compare only runs with the same difference."),
		warning(results.WarnPrefixCache, Limits,
			"Part of the prompts came from the server's prefix cache. If the cache was not in the state that the "+
				"scenario asks for, the step is suspect.",
			"Cached prompt tokens cost almost nothing: TTFT and throughput are better than with new prompts.",
			"Turn the prefix cache off, or say in prefix-cache: that a warm cache is meant."),
		warning(results.WarnClientLate, Limits,
			"Requests were sent later than intended: p99 above 10 ms.",
			"Latencies from the actual send are right, but the server got the load at other moments than the "+
				"schedule says. Where that moves a figure by as much as matters, client-limit says so; where no bounds "+
				"are known, the step is suspect.",
			"Free processors for the load client, lower the rate, or spread the load over agents."),
		warning(results.WarnClientLimit, Disqualifies,
			"The load client may have moved a figure by 2 % or more, and by more than the figure's own interval.",
			"It read answers together or without the kernel's stamps, wrote requests late, or left slots empty "+
				"between requests. The message names the figures; client_at_most in the result has the bound of each.",
			"Give the client cores of its own (client: cpus: auto), use load agents on other hosts, or repeat the "+
				"step on a machine that does nothing else."),
		warning(results.WarnClientBusy, Informs,
			"The load client used more than 90 % of the cores that it may use.",
			"On the server's own machine it takes them from the server. Its times may be right all the same: "+
				"client_at_most says how far they can be off.",
			"Give the client cores of its own (client: cpus: auto), or use load agents on other hosts."),
		warning(results.WarnClientStarved, Informs,
			"Threads of the load client were ready to run and had no core for longer than the shortest interval that "+
				"the figures are about.",
			"Answers wait for the client meanwhile. Where that moved a figure, client-limit says so, and the pass is "+
				"repeated at once within retries.",
			"Stop what else runs on the machine; give the client cores of its own (client: cpus: auto) or a higher "+
				"priority (client: priority)."),
		warning(results.WarnReplaced, Disqualifies,
			"A process that listened on the server's port ended during the pass, and another one of the same server "+
				"took its place.",
			"The new process began with cold caches, and answers were served by two processes: "+
				"the figures belong to neither.",
			"Find out in the server's log why the worker ended; raise its limits, or fix the crash."),
		warning(results.WarnPaused, Disqualifies,
			"bench did not run for more than a second of the step: it was stopped by a signal, its control group was "+
				"frozen, its virtual machine was paused, or the machine slept.",
			"Answers waited unread, and requests were sent late or timed out, whatever the server did meanwhile.",
			"Run the step again on a machine that stays awake, for example under systemd-inhibit."),
		warning(results.WarnPausedStart, Limits,
			"bench did not run for more than a second while it started the step's servers. That time does not count "+
				"for ready.timeout and ready.stall.",
			"Startup times contain the pause. Latencies and throughput do not.",
			"Compare startup times of other starts only."),
		warning(results.WarnRequestRate, Limits,
			"The rate of requests stayed below 95 % of the scheduled one.",
			"The figures belong to a lower load than the one in the table.",
			"Raise max-concurrency, or lower the rate."),
		warning(results.WarnMultiToken, Informs,
			"A chunk carries more than 1.05 tokens on average.",
			"Inter-token latency cannot be measured: what is shown is the time between chunks.",
			"Compare TPOT instead, or have the server send every token."),
		warning(results.WarnHiddenTokens, Informs,
			"The server generated tokens that it did not show before the first visible one, "+
				"as reasoning and tool parsers do.",
			"TTFT includes the time of those tokens; TPOT is over the visible ones alone.",
			"Compare only variants with the same parser, or turn the parser off."),
		warning(results.WarnSharedNode, Limits,
			"Other jobs of the cluster ran on the node when this one began.",
			"They share its processors, memory, buses and power with the server and the client.",
			"Set slurm.exclusive: true, or ask for all GPUs and processors of a node."),
		warning(results.WarnAgentClock, Limits,
			"The clock of a load agent is known less exactly than 5 % of the median TTFT.",
			"Latencies of that agent may be off by as much.",
			"Use agents that are nearer, or synchronise their clocks."),
		warning(results.WarnBuffered, Limits,
			"Chunks arrive in bursts: something between server and client holds them back.",
			"TTFT and ITL are those of the buffer, not of the server.",
			"Turn response buffering off in the proxy, or go around it."),
		warning(results.WarnAnswers, Limits,
			"Answers are empty, repetitive or nearly all alike.",
			"A model that talks nonsense may be broken or not loaded as meant; drafts are then accepted more often, "+
				"too.",
			"Read some answers (keep-text: true), and check model, quantization and chat template."),
		warning(results.WarnFewSamples, Limits,
			"A percentile has fewer samples than it needs: 100 for p90, 1000 for p99. It is marked ~.",
			"Such a percentile is decided by a few requests and changes from run to run.",
			"Send more requests (num-prompts), or look at a lower percentile."),
		warning(results.WarnCounters, Disqualifies,
			"The server's own counters disagree with what the client saw.",
			"Somebody else used the server, or it dropped or repeated work.",
			"Make sure that nobody else sends requests, and run the step again."),
		warning(results.WarnDataset, Informs,
			"The prompts were made in another way than asked for, or some are alike.",
			"Fewer or repeated prompts change the load, and caches may serve them.",
			"Read the message; use a larger dataset or another num-prompts."),
		warning(results.WarnProgramOutput, Limits,
			"llama-bench printed a row that could not be read, or whose deviation was no number or contradicts its "+
				"samples.",
			"The deviation shown is that of the samples; a row that is left out is missing in the table.",
			"Read the message: it names the test. More repetitions make the deviation known."),
		warning(results.WarnImported, Informs,
			"The figures were read from a file that another program wrote.",
			"How they were measured is known only as far as the file says it.",
			"Compare them with care; bench reproduce measures again."),
		warning(results.WarnImportedDiffers, Limits,
			"Values of the imported file contradict each other.",
			"At least one of them is wrong.",
			"Look at the file; the message names the values."),
		warning(results.WarnImportedAmbiguous, Limits,
			"The comma of a number of the imported file may be one of thousands or of a fraction.",
			"The value may be a thousand times too large; where other numbers of the file contradict each other it "+
				"was left out.",
			"Write the numbers with points before their fractions, and import again."),
		warning(results.WarnImportedUnusable, Informs,
			"A value of the imported file is not a number, or a key stands twice.",
			"It was left out.",
			"Look at the file; the message names the place."),
		warning(results.WarnSimulated, Informs,
			"The figures come from bench's simulator.",
			"They say nothing about an inference engine.",
			"Run the scenario without --sim on a machine with the engine."),
	}
}

// warningsOfMachine are about the machine, its GPUs and the run itself.
func warningsOfMachine() []Entry {
	return []Entry{
		warning(results.WarnForeignGPUUser, Disqualifies,
			"A process that is not the step's held memory of its GPUs.",
			"It may have computed at the same time.",
			"Stop it, or choose other GPUs with gpus:."),
		warning(results.WarnThrottled, Disqualifies,
			"A GPU slowed down because of heat or a hardware limit.",
			"The figures are those of a slower GPU.",
			"Improve cooling, or let GPUs settle between steps (settle:)."),
		warning(results.WarnPowerCapped, Informs,
			"A GPU ran at its power limit for part of the pass.",
			"Under load that may be its normal state; another limit gives other figures.",
			"Compare runs with the same power limit only."),
		warning(results.WarnPowerLimit, Disqualifies,
			"The power limit of a GPU changed, or is not that of the run's first step.",
			"Steps were measured under different conditions.",
			"Set the limit once, before the run."),
		warning(results.WarnPowerUnknown, Informs,
			"The energy of a GPU is not known; the message says why.",
			"Figures per watt and per joule are missing.",
			"Use another sampler; bench gpu shows which work."),
		warning(results.WarnEnergy, Limits,
			"The energy counter of a GPU and its power readings differ by more than 5 %.",
			"Energy figures may be wrong by as much.",
			"Prefer the counter; report the difference with bench gpu --capture."),
		warning(results.WarnTelemetryGaps, Informs,
			"Readings of a GPU failed or came too rarely.",
			"Peaks may be missing from power and memory figures.",
			"Use a faster sampler, or see why the tool hangs."),
		warning(results.WarnNotSettled, Limits,
			"GPUs were not as calm as settle: asks when its timeout passed.",
			"The step began warmer or busier than the others.",
			"Raise settle.timeout, or look for what keeps the GPUs busy."),
		warning(results.WarnHook, Informs,
			"A hook, a check or an undo did not do what it should.",
			"A setting of the machine may not be as meant.",
			"Read the hook's output in the journal."),
		warning(results.WarnExtrapolated, Limits,
			"One replica ran with its share of the load and stands for several.",
			"Its neighbours were idle: shared memory bandwidth, power and network were not.",
			"Measure all replicas where the machine allows it."),
		warning(results.WarnChanged, Limits,
			"The run was resumed on a machine or engine that is not as at its start.",
			"Steps before and after may differ for that reason.",
			"Look at changes in the step's result; run all again if it matters."),
		warning(results.WarnRetried, Informs,
			"An earlier attempt of this step failed.",
			"The figures are those of the last attempt only.",
			"Look at the failure of the earlier one; it may come back."),
		warning(results.WarnUnclean, Informs,
			"The server had to be killed.",
			"It did not stop in its grace period, which may hide a problem at its end.",
			"Raise server.stop.grace if it needs longer."),
	}
}

// warningsOfRecipe are about how the servers were started.
func warningsOfRecipe() []Entry {
	return []Entry{
		warning(results.WarnContext, Limits,
			"Some prompts with their answers need more tokens than the server takes.",
			"The server refuses them or cuts their answers short.",
			"Raise the server's context length, or shorten input-len and output-len."),
		warning(results.WarnFewSlots, Limits,
			"The server works on fewer requests at once than are sent.",
			"The rest waits in its queue: latency contains the wait, and higher loads measure the queue.",
			"Raise max-num-seqs (llama.cpp: parallel), or send fewer at once."),
		warning(results.WarnNoEffect, Informs,
			"A setting of the recipe means nothing to this version of the engine.",
			"The variant is not what its name says.",
			"Remove the setting, or use the version that knows it."),
		warning(results.WarnSpecRandom, Limits,
			"Drafts were made for random prompts.",
			"Acceptance on random tokens says nothing about real text.",
			"Use a dataset of text to judge speculative decoding."),
		warning(results.WarnSpecPastEnd, Limits,
			"Answers were continued past their natural end (ignore-eos).",
			"Drafts are accepted differently there; acceptance mixes both.",
			"Leave ignore-eos off to judge speculative decoding."),
		warning(results.WarnSpecBaseline, Informs,
			"A variant speculates, and no variant of the same model does without.",
			"At high load speculation can cost throughput; the table cannot show it.",
			"Add a variant without speculative decoding."),
	}
}
