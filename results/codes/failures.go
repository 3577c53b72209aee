package codes

import "github.com/benchrig/bench/results"

func failure(class results.FailureClass, meaning, why, do string) Entry {
	return Entry{string(class), Fails, meaning, why, do}
}

func failures() []Entry {
	return append(append(append(failuresOfRequests(), failuresOfStart()...), failuresOfServer()...),
		failuresOfSteps()...)
}

// failuresOfRequests are of single requests.
func failuresOfRequests() []Entry {
	return []Entry{
		failure(results.FailConnect, "No TCP or TLS connection could be made.",
			"The server does not listen, refuses more connections, or its certificate is not trusted.",
			"Check address, port and certificate (tls.ca), and the limit of open files."),
		failure(results.FailHTTP, "The server answered with a status other than 2xx.",
			"It refused or could not serve the request.", "Read its words in the report, and its log."),
		failure(results.FailAuth, "The server answered 401 or 403.",
			"The key is missing or wrong.", "Set the key that the scenario or OPENAI_API_KEY names."),
		failure(results.FailInBand, "An error came inside a stream that had begun with status 200.",
			"The request failed while it was answered.", "Read the server's log."),
		failure(results.FailTruncated, "The stream ended without a finish reason or [DONE].",
			"The answer is incomplete; the server or a proxy dropped it.", "Look for timeouts of proxies and for "+
				"crashes."),
		failure(results.FailNoTokens, "A complete stream carried no token.",
			"There is nothing to measure.", "Check the chat template, stop settings and the endpoint."),
		failure(results.FailTransport, "The connection broke after the request was sent.",
			"The answer is lost.", "Look for a crash of the server and for limits of proxies."),
		failure(results.FailProtocol, "The answer is not an event stream, or cannot be parsed.",
			"The endpoint speaks another protocol.", "Check endpoint and api of the load."),
		failure(results.FailFirstToken, "No token came within timeouts.first-token.",
			"The request waited too long.", "Lower the load, or raise the limit."),
		failure(results.FailStall, "No byte came for timeouts.stall.",
			"The stream hung.", "Look at the server; raise the limit if such pauses are normal."),
		failure(results.FailTotal, "The answer was not complete within timeouts.total.",
			"The request was given up.", "Lower output-len or the load, or raise the limit."),
		failure(results.FailCanceled, "bench ended the request: by Ctrl-C, a deadline, or because the server died.",
			"It says nothing about the server's speed.", "Look at the failure of the step."),
		failure(results.FailUnclassified, "An imported request failed; only its client's words are known.",
			"Its cause cannot be grouped.", "Read the message."),
	}
}

// failuresOfStart keep a server from starting.
func failuresOfStart() []Entry {
	return []Entry{
		failure(results.FailBadRecipe, "The recipe cannot become a command line.",
			"No server was started.", "Correct the scenario as the message says."),
		failure(results.FailNotFound, "The program does not exist.",
			"No server was started.", "Install it, or name it with binary:."),
		failure(results.FailPortInUse, "The port is taken by another process.",
			"No server was started.", "Stop that process, or leave port: out to have a free one chosen."),
		failure(results.FailNoGPU, "The machine has fewer GPUs than the variant needs.",
			"No server was started.", "Change gpus:, replicas: or the parallel sizes, or use another machine."),
		failure(results.FailFatalLine, "The server's log has a line that no server survives.",
			"It was given up before its time limit.", "Read that line; it names the cause."),
		failure(results.FailOutOfMemory, "The server ran out of memory.",
			"It cannot serve this configuration.",
			"Lower gpu-memory-utilization, context or batch sizes, use more GPUs, or a smaller model."),
		failure(results.FailBadFlag, "The engine does not know an argument, or refuses it.",
			"The server did not start.", "Use the argument's name in this version; bench plan warns about known ones."),
		failure(results.FailModel, "The model is missing or cannot be loaded.",
			"The server did not start.", "Check the path, the files and the architecture."),
		failure(results.FailReadyTimeout, "The server did not answer with a token within ready.timeout.",
			"It may be loading, or hang.", "Raise ready.timeout, or look at the end of its log."),
		failure(results.FailReadyStall, "The server gave no sign of life for ready.stall.",
			"It hangs, or does something long without a word.", "Raise ready.stall, or look at the end of its log."),
		failure(results.FailWrongModel, "The server serves another model than asked for.",
			"Figures would belong to another model.", "Correct model: or served-name:."),
		failure(results.FailNode, "Another node of the job cannot be used.",
			"The server over several nodes did not start.", "Look at the node that the message names."),
		failure(results.FailForeign, "The port is answered by a process that bench did not start.",
			"Requests would go to another server.", "Stop it, or use another port."),
		failure(results.FailForeignGPU, "Other processes hold memory of the GPUs.",
			"The server would be measured beside them, or not fit.", "Stop them, or choose other GPUs with gpus:."),
		failure(results.FailKVCache, "There is no room in the KV cache for one request of the model's length.",
			"The engine refuses to start.", "Lower max-model-len, or free memory for the cache."),
		failure(results.FailStillHeld, "Another process, often the server before, still held GPU memory.",
			"The server did not fit.", "Retry; raise vram.timeout if it happens often."),
		failure(results.FailGPU, "A GPU, its driver or the library between GPUs failed.",
			"The server cannot run.", "See the kernel log; reset or reboot the machine if it persists."),
		failure(results.FailGated, "The model's owner has to grant access.",
			"The model cannot be downloaded.", "Accept its licence and set HF_TOKEN."),
		failure(results.FailDownload, "A download failed.",
			"The model or a file of it is missing.", "Check the network, or download the model before the run."),
		failure(results.FailEngineDied, "A worker of the engine ended, and its front end reports only that.",
			"The server cannot serve.", "Look further up in its log for the worker's own words."),
		failure(results.FailCompileCache, "The engine's compile cache is damaged or cannot be written.",
			"The server did not start.", "Remove the cache folder that the message names."),
		failure(results.FailCompile, "The compiler of the engine's kernels or graphs failed.",
			"The server did not start.", "Check the C compiler and the CUDA or ROCm toolkit of the machine or image; "+
				"vLLM's enforce-eager does without compiled graphs."),
		failure(results.FailSharedMemory, "There is no room in /dev/shm.",
			"Processes of the engine cannot exchange data.", "Make /dev/shm larger (containers: shm-size), or bench "+
				"clean."),
		failure(results.FailSmoke, "The server runs, but the request under smoke: failed.",
			"Measuring it would measure failures.", "Read the server's words; correct the recipe."),
		failure(results.FailImage, "The container image cannot be pulled or found.",
			"No server was started.", "Check the image's name and your access to it."),
		failure(results.FailContainer, "The container engine does not answer.",
			"No server was started.", "Start it, and check your permission to use it."),
	}
}

// failuresOfServer happen while a server is used, or when it is stopped.
func failuresOfServer() []Entry {
	return []Entry{
		failure(results.FailExited, "The server exited before it was stopped.",
			"What was measured until then is kept and not ranked.", "Read the end of its log."),
		failure(results.FailNoProof, "A server could not be proven gone.",
			"The next one would be measured beside it, so the run ended.",
			"Inspect the machine (bench clean --dry-run), or raise vram.timeout; then bench resume."),
		failure(results.FailNoProgress, "No request got a token for watchdog.stall.",
			"The server hangs, whatever its health check says.", "Look at its log; it was started anew for the next "+
				"steps."),
		failure(results.FailRestarted, "The server's counters went backwards during the pass.",
			"It restarted; its figures mix two servers.", "Look for what restarts it: a supervisor, or a crash."),
		failure(results.FailAgent, "A load agent could not be started, has another version, or was lost.",
			"Part of the load is missing.", "Check ssh and the version of bench on that host."),
		failure(results.FailPasses, "The two passes of method sqzb differ in configuration or prompts.",
			"Their difference means nothing.", "Read what differs, and correct the recipe."),
		failure(results.FailDisturbed, "The step was repeated because of throttling, another power limit or foreign "+
			"GPU users.",
			"The disturbed attempt is not ranked.", "Look for the cause in the warnings of the attempt."),
		failure(results.FailStarved,
			"The step was repeated because threads of the load client had no core for so long "+
				"that a figure may have moved.",
			"The attempt is not ranked.", "Stop what else runs on the machine, or give the client cores of its own "+
				"(client: cpus: auto)."),
		failure(results.FailContext, "No prompt fits what the server takes.",
			"Nothing was sent.", "Raise the server's context length, or shorten the prompts."),
	}
}

// failuresOfSteps keep a step from being run, or end it.
func failuresOfSteps() []Entry {
	return []Entry{
		failure(results.FailDataset, "The prompts could not be made.",
			"Nothing was sent.", "Correct the dataset as the message says."),
		failure(results.FailDeadline, "A deadline of the step or the run passed.",
			"What was measured until then is kept and not ranked.", "Raise the deadline, or plan less."),
		failure(results.FailInterrupted, "Ctrl-C, a signal or the job's time limit ended the step.",
			"What was measured until then is kept and not ranked.", "bench resume repeats it."),
		failure(results.FailRequests, "Fewer requests succeeded than min-success asks for.",
			"Figures of the rest would flatter the server.", "Read the failures by class; lower the load."),
		failure(results.FailOpenFiles, "The limit of open files was reached.",
			"Each request in flight has a connection, which is an open file; what was measured until then is kept.",
			"Raise the limit (ulimit -n, or LimitNOFILE= of a service), or send fewer requests at once."),
		failure(results.FailDisk, "Results could not be written, or too little disk is free.",
			"The run ended to protect what there is.", "Free space, then bench resume."),
		failure(results.FailEarlier, "An earlier failure ended the variant or the run.",
			"The step was not run.", "Mend the first failure, then bench resume."),
		failure(results.FailHook, "A hook or a check refused.",
			"The step was not run under the intended conditions.",
			"Read its output, mend the cause, then bench resume."),
		failure(results.FailInternal, "An error inside bench.",
			"Nothing can be said about the step.", "Report it with bench.log and the journal."),
		failure(results.FailChanged, "The engine or model is not the one that the run began with.",
			"The rest of the run would be another experiment.", "Restore it, or resume with --allow-changed."),
		failure(results.FailSkipped, "The user skipped the step in the live view.",
			"What was measured until then is kept and not ranked.", "bench resume --retry-failed runs it."),
		failure(results.FailNotNeeded, "The step was planned in case it was needed, and it was not.",
			"Nothing is missing.", "Nothing."),
		failure(results.FailPruned, "A lower load of the sweep was overloaded already.",
			"Higher loads would only be slower.", "Nothing; remove prune: to run them anyway."),
	}
}
