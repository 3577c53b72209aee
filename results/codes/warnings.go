package codes

import (
	"slices"

	"github.com/benchrig/bench/results"
)

func warning(code results.WarningCode, severity Severity, meaning, why, do string) Entry {
	return Entry{string(code), severity, meaning, why, do}
}

func warnings() []Entry {
	return slices.Concat(warningsOfRequests(), warningsOfClient(), warningsOfPass(), warningsOfAnswers(),
		warningsOfFigures(), warningsOfMachine(), warningsOfRecipe())
}

// warningsOfRequests are about the requests of a pass, as the load asked for them.
func warningsOfRequests() []Entry {
	return []Entry{
		warning(results.WarnInterrupted, Disqualifies,
			"The pass ended before all requests were sent.",
			"The figures cover the beginning of the load only.",
			"Run bench resume, which repeats the step."),
		warning(results.WarnEndedEarly, Informs,
			"The pass ended before all requests were sent, because every percentile under load.early.until was known "+
				"well enough.",
			"The figures cover fewer requests than num-prompts: the first ones sent, not the fastest ones.",
			"Nothing. For a longer measurement, request a smaller margin."),
		warning(results.WarnOverloaded, Disqualifies,
			"The pass ended before all requests were sent, because the server did not keep up with the request rate: "+
				"the number of unanswered requests grew steadily.",
			"In an overloaded server latencies grow with the length of the pass, so they describe the pass more than "+
				"the server. A search counts the load as missed, and prune: as overloaded.",
			"Lower the rate. output_throughput shows what the server can do. To measure to the end, set "+
				"load.early.overload: false."),
		warning(results.WarnMargin, Limits,
			"The load ended before a percentile under load.early.until was known well enough.",
			"The next run may give a value that differs by more than the margin.",
			"Send more requests (num-prompts, duration), or request a larger margin or a lower percentile."),
		warning(results.WarnFailures, Disqualifies,
			"Some requests failed.",
			"Failed requests free capacity for the others, so latencies look better than they are.",
			"Look at the failures by class in the report; reduce the load, or fix the cause."),
		warning(results.WarnShortOutput, Limits,
			"Answers have less than 95 % of the requested output tokens. With ignore-eos the step is suspect.",
			"Shorter answers make requests cheaper, so throughput and latency are not those of the intended load.",
			"Check max-model-len and stop settings; use ignore-eos for answers of equal length."),
		warning(results.WarnLongOutput, Disqualifies,
			"Answers have more tokens than the request allowed.",
			"The server ignores the field that limits an answer, so it does more work than the load requests.",
			"Set the field that the server knows (max-tokens-field or body under load:), or use the server's own "+
				"API."),
		warning(results.WarnTokenSource, Limits,
			"Output tokens of some answers were not counted by the server. If chunks were counted instead, the step "+
				"is suspect.",
			"A chunk may hold several tokens, so token rates may be wrong.",
			"Use a server that reports usage, or name a tokenizer for the dataset."),
		warning(results.WarnInputMismatch, Limits,
			"The server counts other prompt lengths than the dataset.",
			"Chat templates, special tokens or another tokenizer change the work per prompt.",
			"Set dataset.tokenizer to the model's own, or compare only runs with the same difference."),
		warning(results.WarnPrefixCache, Limits,
			"Part of the prompt tokens came from the server's prefix cache. If the cache was not in the state that "+
				"the scenario requests, the step is suspect.",
			"Cached prompt tokens cost almost nothing: TTFT and throughput are better than with new prompts.",
			"Turn the prefix cache off, or set prefix-cache: warm if that is intended."),
	}
}

// warningsOfClient are about the load client.
func warningsOfClient() []Entry {
	return []Entry{
		warning(results.WarnClientLate, Limits,
			"Requests were sent later than intended: p99 above 10 ms.",
			"Latencies count from the actual send and are right, but the server received the load at other times "+
				"than scheduled. If that changes a figure noticeably, client-limit says so; if no bounds are "+
				"known, the step is suspect.",
			"Free CPUs for the load client, lower the rate, or use load agents."),
		warning(results.WarnClientLimit, Disqualifies,
			"The load client may have changed a figure by 2 % or more, and by more than the figure's own interval.",
			"It read several tokens at once or without the kernel's time stamps, sent requests late, or left slots "+
				"empty between requests. The message names the figures; client_at_most in the result holds the "+
				"bound of each.",
			"Give the client its own cores (client: cpus: auto), use load agents on other hosts, or repeat the "+
				"step on an otherwise idle machine."),
		warning(results.WarnClientBusy, Informs,
			"The load client used more than 90 % of the CPU time available to it.",
			"On the server's machine it takes this time from the server. Its measurements may still be right: "+
				"client_at_most says how far off they can be.",
			"Give the client its own cores (client: cpus: auto), or use load agents on other hosts."),
		warning(results.WarnClientStarved, Informs,
			"Threads of the load client were ready to run but waited for a core longer than the shortest interval "+
				"measured.",
			"Answers wait for the client in the meantime. If that changed a figure, client-limit says so, and the "+
				"pass is repeated at once, within retries.",
			"Stop other programs on the machine; give the client its own cores (client: cpus: auto) or a higher "+
				"priority (client: priority)."),
		warning(results.WarnClientPlace, Informs,
			"Threads of the load client do not run on the CPUs, or with the priority, that the scenario requests.",
			"They share cores with other programs; client_at_most says how much that can have changed the figures.",
			"Permit it (CAP_SYS_NICE or ulimit -e for the priority, the cpuset for CPUs), or remove cpus and "+
				"priority from client:."),
	}
}

// warningsOfPass are about what happened to servers and nodes during a pass.
func warningsOfPass() []Entry {
	return []Entry{
		warning(results.WarnReplaced, Disqualifies,
			"A process that listened on the server's port ended during the pass, and another process of the same "+
				"server replaced it.",
			"The new process began with cold caches, and two processes served the answers: the figures describe "+
				"neither.",
			"Look in the server's log for why the worker ended; raise its limits, or fix the crash."),
		warning(results.WarnPaused, Disqualifies,
			"bench did not run for more than a second of the step: it was stopped by a signal, its control group was "+
				"frozen, its virtual machine was paused, or the machine slept.",
			"Answers waited unread, and requests were sent late or timed out, whatever the server did in the "+
				"meantime.",
			"Run the step again on a machine that stays awake, for example under systemd-inhibit."),
		warning(results.WarnPausedStart, Limits,
			"bench did not run for more than a second while it started the step's servers. That time does not count "+
				"for ready.timeout and ready.stall.",
			"Startup times contain the pause. Latencies and throughput do not.",
			"Compare only the startup times of other starts."),
		warning(results.WarnRequestRate, Limits,
			"The request rate stayed below 95 % of the scheduled one.",
			"The figures describe a lower load than the table says.",
			"Raise max-concurrency, or lower the rate."),
		warning(results.WarnMultiToken, Informs,
			"A chunk carries more than 1.05 tokens on average.",
			"Inter-token latency cannot be measured; the time between chunks is shown instead.",
			"Compare TPOT instead, or make the server send every token separately."),
		warning(results.WarnHiddenTokens, Informs,
			"The server generated hidden tokens before the first visible one, as with reasoning and tool parsers.",
			"TTFT includes the time of the hidden tokens; TPOT covers only the visible ones.",
			"Compare only variants with the same parser, or disable the parser."),
		warning(results.WarnSharedNode, Limits,
			"Other jobs of the cluster were running on the node when this one began.",
			"They compete with server and client for CPUs, memory, buses and power.",
			"Set slurm.exclusive: true, or request all GPUs and CPUs of a node."),
		warning(results.WarnAgentClock, Limits,
			"The uncertainty of a load agent's clock is more than 5 % of the median TTFT.",
			"Send times of that agent may be off by this much.",
			"Use closer hosts, or synchronize their clocks."),
		warning(results.WarnBuffered, Limits,
			"Chunks arrive in bursts: something between server and client buffers them.",
			"TTFT and ITL describe the buffer, not the server.",
			"Disable response buffering in the proxy, or bypass the proxy."),
	}
}

// warningsOfAnswers are about the quality of answers.
func warningsOfAnswers() []Entry {
	return []Entry{
		warning(results.WarnAnswers, Limits,
			"Answers are empty, repetitive or nearly all alike.",
			"The model may be broken or wrongly loaded. Speculative decoding also accepts more drafts then.",
			"Read some answers (keep-text: true); check the model, quantization and chat template."),
		warning(results.WarnLowScore, Disqualifies,
			"The share of correct answers after the pass is below load.evaluate.min-score, or the score of the "+
				"evaluation command is below evaluate.min or missing.",
			"Weights, quantization, chat template or a kernel may be wrong. The speed of a server that answers "+
				"wrongly means nothing.",
			"Read the wrong answers in the step's report. Compare with max-concurrency 1, and with another engine "+
				"version or quantization. Switch the reasoning of models that think before they answer off."),
		warning(results.WarnNoScore, Limits,
			"The evaluation command (evaluate.command) failed, took longer than evaluate.timeout, or gave no score.",
			"The quality of the variant's answers is unknown. With evaluate.min the step is also suspect (low-score).",
			"Read the problem in the step's report. Run the command by hand against the server; check evaluate.file "+
				"and evaluate.score against the JSON that it writes."),
		warning(results.WarnToolCalls, Limits,
			"Requests offered tools, but no answer calls one, or more than 5 % of the answers with calls have an "+
				"invalid one: an unknown tool, or arguments that do not match its JSON Schema.",
			"A server without a parser for the model's tool calls streams them as text. Otherwise the cause is the "+
				"model, its quantization, its chat template or the parser.",
			"Read the problems in the step's report, and some answers (keep-text: true). Start the server with its "+
				"parser (vLLM: --enable-auto-tool-choice --tool-call-parser NAME; llama-server: --jinja), raise "+
				"output-len if calls were cut, or send body: {tool_choice: required}."),
		warning(results.WarnAnswersDiffer, Limits,
			"Prompts that were sent again one at a time (load.resend) got other answers than in the pass, at "+
				"temperature 0.",
			"Rounding can change single tokens late in an answer. If answers differ in their first words, or nearly "+
				"all differ, the server computes something else under load.",
			"Read both answers (keep-text: true). Compare with max-concurrency 1, and with another engine version or "+
				"quantization."),
		warning(results.WarnAnswersCached, Limits,
			"Prompts that were sent again (load.resend) were answered immediately, new prompts of the same words were "+
				"not.",
			"Something caches whole answers. If the pass repeats prompts (duration, oversample), its figures are "+
				"those of the cache.",
			"Switch the cache off, or send each prompt once."),
	}
}

// warningsOfFigures are about figures, and where they come from.
func warningsOfFigures() []Entry {
	return []Entry{
		warning(results.WarnStartCache, Disqualifies,
			"A cache was not in the requested state when the server started.",
			"The start may have been faster or slower than a start in that state.",
			"The message names the cache. Pages of files that another process uses cannot be evicted: stop that "+
				"process. Files on tmpfs are always in memory. A page cache smaller than the model cannot be warm."),
		warning(results.WarnStartCacheUnused, Limits,
			"The server left nothing in the folder that bench gave it for compiled code or for models.",
			"If the server caches nothing, for example with enforce-eager, cold and warm starts do not differ. If it "+
				"caches elsewhere, the state of the cache was unknown.",
			"Leave the cache out of cold-start: if the engine keeps nothing. See the log of the start in lives/."),
		warning(results.WarnFewSamples, Limits,
			"A percentile has fewer samples than it needs: 100 for p90, 1000 for p99. It is marked ~.",
			"A few requests decide such a percentile, and it varies from run to run.",
			"Send more requests (num-prompts), or use a lower percentile."),
		warning(results.WarnCounters, Disqualifies,
			"The server's own counters disagree with what the client saw.",
			"Another client used the server, or the server dropped or repeated work.",
			"Make sure that no other client sends requests, and run the step again."),
		warning(results.WarnDataset, Informs,
			"The prompts differ from those requested, or some are repeated.",
			"Fewer or repeated prompts change the load, and caches may answer them.",
			"Read the message; use a larger dataset or another num-prompts."),
		warning(results.WarnProgramOutput, Limits,
			"A program that measures without a server printed a figure that is not a number or contradicts its "+
				"samples, or fewer tests than were asked for.",
			"A deviation shown was computed from the samples; an unreadable figure is missing from the table.",
			"Read the message, which names the test. More repetitions give a deviation."),
		warning(results.WarnImported, Informs,
			"The figures come from a file that another program wrote.",
			"How they were measured is known only as far as the file states it.",
			"Compare them with care, or measure again with bench reproduce."),
		warning(results.WarnImportedDiffers, Limits,
			"Values of the imported file contradict each other.",
			"At least one of them is wrong.",
			"Look at the file; the message names the values."),
		warning(results.WarnImportedAmbiguous, Limits,
			"A comma in a number of the imported file may separate thousands or be a decimal sign.",
			"The value may be a thousand times too large. If the file's other numbers contradict each other, it "+
				"was left out.",
			"Write the numbers with decimal points, and import again."),
		warning(results.WarnImportedUnusable, Informs,
			"A value of the imported file is not a number, or a key occurs twice.",
			"It was left out.",
			"Look at the file; the message names the place."),
		warning(results.WarnSimulated, Informs,
			"The figures come from bench's simulator.",
			"They say nothing about an inference engine.",
			"Run the scenario without --sim on a machine that has the engine."),
	}
}

// warningsOfMachine are about the machine, its GPUs and the run itself.
func warningsOfMachine() []Entry {
	return []Entry{
		warning(results.WarnForeignGPUUser, Disqualifies,
			"Another program held memory on the step's GPUs.",
			"It may have used the GPU at the same time.",
			"Stop it, or choose other GPUs with gpus:."),
		warning(results.WarnThrottled, Disqualifies,
			"A GPU slowed down because of heat or a hardware limit.",
			"The figures are those of a slower GPU.",
			"Improve cooling, or let GPUs settle between steps (settle:)."),
		warning(results.WarnPowerCapped, Informs,
			"A GPU ran at its power limit for part of the pass.",
			"Under load this may be normal, but another limit gives other figures.",
			"Compare only runs with the same power limit."),
		warning(results.WarnPowerLimit, Disqualifies,
			"The power limit of a GPU changed, or differs from that in the run's first step.",
			"Steps were measured under different conditions.",
			"Set the limit once, before the run."),
		warning(results.WarnPowerUnknown, Informs,
			"The energy of a GPU is unknown; the message gives the reason.",
			"Figures per watt and per joule are missing.",
			"Use another sampler; bench gpu shows which ones work."),
		warning(results.WarnEnergy, Limits,
			"The energy counter of a GPU and its power readings differ by more than 5 %.",
			"Energy figures may be wrong by as much.",
			"Rely on the counter; report the difference with bench gpu --capture."),
		warning(results.WarnTelemetryGaps, Informs,
			"Readings of a GPU failed or came too rarely.",
			"Peaks may be missing from power and memory figures.",
			"Use a faster sampler, or find out why the tool hangs."),
		warning(results.WarnNotSettled, Limits,
			"GPUs were still warmer or busier than settle: allows when its timeout expired.",
			"The step began under other conditions than the rest.",
			"Raise settle.timeout, or find out what keeps the GPUs busy."),
		warning(results.WarnHook, Informs,
			"A hook, a check or an undo failed.",
			"A setting of the machine may not be as intended.",
			"Read the hook's output in the journal."),
		warning(results.WarnExtrapolated, Limits,
			"One replica ran with its share of the load and represents several.",
			"The other GPUs were idle, so memory bandwidth, power and network were not shared.",
			"Measure all replicas if the machine allows it."),
		warning(results.WarnEqualOutputs, Limits,
			"Two steps produced the same outputs although their models, quantizations or engines differ.",
			"Most likely the same server answered both, so one of them has the other's figures.",
			"Check which model each server had loaded (servers in the step's result), and measure again."),
		warning(results.WarnChanged, Limits,
			"The run was resumed after the machine or engine had changed.",
			"Steps from before and after may differ for that reason.",
			"Look at changes in the step's result; run everything again if it matters."),
		warning(results.WarnRetried, Informs,
			"An earlier attempt of this step failed.",
			"The figures are those of the last attempt.",
			"Look at the earlier failure; it may recur."),
		warning(results.WarnUnclean, Informs,
			"The server had to be killed.",
			"It did not stop within its grace period, which may hide a problem during its shutdown.",
			"Raise stop.grace if it needs more time."),
	}
}

// warningsOfRecipe are about how the servers were started.
func warningsOfRecipe() []Entry {
	return []Entry{
		warning(results.WarnContext, Limits,
			"Some prompts with their answers exceed the server's context length.",
			"The server rejects them or truncates their answers.",
			"Raise the server's context length, or shorten input-len and output-len."),
		warning(results.WarnFewSlots, Limits,
			"The server processes fewer requests at once than the client sends.",
			"The others wait in its queue: latency includes this wait, and higher loads measure the queue.",
			"Raise max-num-seqs (llama.cpp: parallel), or lower max-concurrency."),
		warning(results.WarnNoEffect, Informs,
			"This version of the engine ignores a setting of the recipe.",
			"The variant is not what its name says.",
			"Remove the setting, or use a version that knows it."),
		warning(results.WarnSpecRandom, Limits,
			"Speculative decoding ran on random prompts.",
			"Acceptance rates on random tokens say nothing about real text.",
			"Use a dataset of real text to judge speculative decoding."),
		warning(results.WarnSpecPastEnd, Limits,
			"Answers continued past their natural end (ignore-eos).",
			"Acceptance rates differ there, and the figure mixes both parts.",
			"Set ignore-eos: false to judge speculative decoding."),
		warning(results.WarnAcceptance, Limits,
			"The server was configured to simulate an acceptance length, but the drafts of the pass had another one.",
			"The speed belongs to the actual acceptance. It deviates if answers end early, if the draft is "+
				"shorter than the requested length, or if the engine's version does not know the setting.",
			"Raise the number of drafted tokens, check that the engine's version knows the setting, and use "+
				"ignore-eos."),
		warning(results.WarnSpecBaseline, Informs,
			"A variant uses speculative decoding, and no variant of the same model runs without it.",
			"At high load speculation can cost throughput, which the table then cannot show.",
			"Add a variant without speculative decoding."),
	}
}
