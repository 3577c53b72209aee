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
		failure(results.FailConnect, "No TCP or TLS connection could be established.",
			"The server is not listening, rejects further connections, or has an untrusted certificate.",
			"Check address, port and certificate (tls.ca), and the limit of open files."),
		failure(results.FailHTTP, "The server answered with a status other than 2xx.",
			"It rejected the request or could not serve it.", "Read its answer in the report, and its log."),
		failure(results.FailAuth, "The server answered 401 or 403.",
			"The key is missing or wrong.", "Set api-key in the scenario, or OPENAI_API_KEY."),
		failure(results.FailInBand, "A stream that had begun with status 200 contained an error.",
			"The request failed while the server was answering it.", "Read the server's log."),
		failure(results.FailTruncated, "The stream ended without a finish reason or [DONE].",
			"The answer is incomplete: the server or a proxy ended it early.", "Check proxies for timeouts and the "+
				"server for crashes."),
		failure(results.FailNoTokens, "A complete stream contained no token.",
			"There is nothing to measure.", "Check the chat template, stop settings and the endpoint."),
		failure(results.FailTransport, "The connection broke after the request had been sent.",
			"The answer is lost.", "Check the server for crashes and proxies for limits."),
		failure(results.FailProtocol, "The answer is not an event stream, or not a valid one.",
			"The endpoint uses another protocol.", "Check endpoint and api under load:."),
		failure(results.FailFirstToken, "No token arrived within timeouts.first-token.",
			"The request waited too long.", "Lower the load, or raise the limit."),
		failure(results.FailStall, "No byte arrived for timeouts.stall.",
			"The stream hung.", "Look at the server; raise the limit if such pauses are normal."),
		failure(results.FailTotal, "The answer was not complete within timeouts.total.",
			"bench gave up on the request.", "Lower output-len or the load, or raise the limit."),
		failure(results.FailCanceled, "bench ended the request because of Ctrl-C, a deadline, or the server's end.",
			"It says nothing about the server's speed.", "Look at the failure of the step."),
		failure(results.FailUnclassified, "An imported request failed, and only its client's message is known.",
			"Its cause cannot be classified.", "Read the message."),
	}
}

// failuresOfStart keep a server from starting.
func failuresOfStart() []Entry {
	return []Entry{
		failure(results.FailBadRecipe, "The recipe cannot be turned into a command line.",
			"No server was started.", "Correct the scenario as the message says."),
		failure(results.FailNotFound, "The program does not exist.",
			"No server was started.", "Install it, or set binary: to its path."),
		failure(results.FailPortInUse, "The port is taken by another process.",
			"No server was started.", "Stop that process, or remove port: so that bench chooses a free one."),
		failure(results.FailNoGPU, "The machine has fewer GPUs than the variant needs.",
			"No server was started.", "Lower gpus:, replicas: or the parallel sizes, or use another machine."),
		failure(results.FailFatalLine, "The server's log contains a line after which no server recovers.",
			"bench stopped waiting before the time limit.", "Read that line; it names the cause."),
		failure(results.FailOutOfMemory, "The server ran out of memory.",
			"It cannot serve this configuration.",
			"Lower gpu-memory-utilization, the context or the batch sizes; use more GPUs or a smaller model."),
		failure(results.FailBadFlag, "The engine does not know an argument, or rejects it.",
			"The server did not start.", "Use the argument's name in this version; bench plan warns about known "+
				"renames."),
		failure(results.FailModel, "The model is missing or cannot be loaded.",
			"The server did not start.", "Check the path, the files and whether the engine supports the "+
				"architecture."),
		failure(results.FailReadyTimeout, "The server did not answer with a token within ready.timeout.",
			"It may still be loading, or be hung.",
			"Look at the end of its log; raise ready.timeout if it needs more time."),
		failure(results.FailReadyStall, "The server showed no progress for ready.stall.",
			"It hangs, or is busy with something long that it does not log.",
			"Look at the end of its log; raise ready.stall if it was working."),
		failure(results.FailWrongModel, "The server serves another model than requested.",
			"The figures would describe another model.", "Correct model: or served-name:."),
		failure(results.FailNode, "Another node of the job cannot be used.",
			"The server that spans several nodes did not start.", "Check the node that the message names."),
		failure(results.FailForeign, "A process that bench did not start answers on the port.",
			"Requests would go to another server.", "Stop it, or use another port."),
		failure(results.FailForeignGPU, "Other processes hold memory on the GPUs.",
			"The server would compete with them, or not fit.", "Stop them, or choose other GPUs with gpus:."),
		failure(results.FailKVCache, "The KV cache has no room for one request of the model's full length.",
			"The engine refuses to start.", "Lower max-model-len, or free memory for the cache."),
		failure(results.FailStillHeld, "Another process, often the previous server, still held GPU memory.",
			"The server did not fit.", "Run it again (retries:); raise vram.timeout if this happens often."),
		failure(results.FailGPU, "A GPU, its driver or the communication library failed.",
			"The server cannot run.", "Look at the kernel log; reset the GPU or reboot if it persists."),
		failure(results.FailGated, "The model's owner has to grant access.",
			"The model cannot be downloaded.", "Accept the model's license and set HF_TOKEN."),
		failure(results.FailDownload, "A download failed.",
			"The model, or one of its files, is missing.", "Check the network, or download the model before the run."),
		failure(results.FailEngineDied, "A worker of the engine ended, and its front end reports only that.",
			"The server cannot serve.", "Look further up in its log for the worker's own message."),
		failure(results.FailCompileCache, "The engine's compile cache is damaged or cannot be written.",
			"The server did not start.", "Remove the cache folder that the message names."),
		failure(results.FailCompile, "The compiler of the engine's kernels or graphs failed.",
			"The server did not start.", "Check the C compiler and the CUDA or ROCm toolkit of the machine or "+
				"image. vLLM's enforce-eager avoids compiled graphs."),
		failure(results.FailSharedMemory, "/dev/shm is full.",
			"Processes of the engine cannot exchange data.", "Enlarge /dev/shm (containers: shm-size), or remove "+
				"leftovers with bench clean."),
		failure(results.FailSmoke, "The server runs, but the request under smoke: failed.",
			"Measuring it would measure failures.", "Read the server's answer, and correct the recipe."),
		failure(results.FailImage, "The container image cannot be found or pulled.",
			"No server was started.", "Check the image's name and your access to it."),
		failure(results.FailContainer, "The container engine does not answer.",
			"No server was started.", "Start it, and check your permission to use it."),
	}
}

// failuresOfServer happen while a server is used, or when it is stopped.
func failuresOfServer() []Entry {
	return []Entry{
		failure(results.FailExited, "The server exited before it was stopped.",
			"What was measured until then is kept but not ranked.", "Read the end of its log."),
		failure(results.FailNoProof, "A server could not be proven gone.",
			"The next server would be measured beside it, so the run ended.",
			"Inspect the machine (bench clean --dry-run), or raise vram.timeout; then bench resume."),
		failure(results.FailNoProgress, "No request received a token for watchdog.stall.",
			"The server hangs, whatever its health check says.", "Look at its log. bench restarted it for the next "+
				"steps."),
		failure(results.FailRestarted, "The server's counters went backwards during the pass.",
			"It restarted, so the figures mix two servers.", "Find out what restarts it: a supervisor, or a crash."),
		failure(results.FailAgent, "A load agent could not be started, has another version, or was lost.",
			"Part of the load is missing.", "Check ssh and the version of bench on that host."),
		failure(results.FailPasses, "The two passes of method sqzb differ in configuration or prompts.",
			"Their difference means nothing.", "Read the message, and correct the recipe."),
		failure(results.FailDisturbed, "The step was repeated because a GPU throttled, had another power limit, or "+
			"was used by another program.",
			"The disturbed attempt does not count.", "The warnings of the attempt name the cause."),
		failure(results.FailStarved,
			"The step was repeated because threads of the load client waited for a core so long that a figure may "+
				"have changed.",
			"The attempt does not count.", "Stop other programs on the machine, or give the client its own cores "+
				"(client: cpus: auto)."),
		failure(results.FailContext, "No prompt fits into the server's context length.",
			"Nothing was sent.", "Raise the server's context length, or shorten the prompts."),
	}
}

// failuresOfSteps keep a step from being run, or end it.
func failuresOfSteps() []Entry {
	return []Entry{
		failure(results.FailDataset, "The prompts could not be generated or read.",
			"Nothing was sent.", "Correct dataset: as the message says."),
		failure(results.FailDeadline, "The step or the run exceeded its deadline.",
			"What was measured until then is kept but not ranked.", "Raise the deadline, or reduce the load."),
		failure(results.FailInterrupted, "Ctrl-C, a signal or the job's time limit ended the step.",
			"What was measured until then is kept but not ranked.", "bench resume repeats it."),
		failure(results.FailRequests, "Fewer requests succeeded than min-success requires.",
			"The figures of the others would flatter the server.", "Look at the failures by class; lower the load."),
		failure(results.FailOpenFiles, "The limit of open files was reached.",
			"Each request in flight needs a connection, which is an open file. What was measured until then is "+
				"kept.",
			"Raise the limit (ulimit -n, or LimitNOFILE= of a service), or send fewer requests at once."),
		failure(results.FailDisk, "Results could not be written, or too little disk space is free.",
			"The run ended to protect the results so far.",
			"Follow the message, usually by freeing space; then run bench resume."),
		failure(results.FailEarlier, "An earlier failure ended the variant or the run.",
			"The step was not run.", "Fix the first failure, then run bench resume."),
		failure(results.FailHook, "A hook or a check failed.",
			"The intended conditions do not hold, so the step was not run.",
			"Read its output, fix the cause, then run bench resume."),
		failure(results.FailInternal, "An error inside bench.",
			"The step has no valid figures.", "Report it together with bench.log and the journal."),
		failure(results.FailChanged, "The engine or model is not the one with which the run began.",
			"The remaining steps would not be comparable.", "Restore it, or resume with --allow-changed."),
		failure(results.FailSkipped, "The user skipped the step.",
			"What was measured until then is kept but not ranked.", "bench resume --retry-failed runs it."),
		failure(results.FailNotNeeded, "The step was planned for the case that it was needed.",
			"It was not needed, so nothing is missing.", "Nothing."),
		failure(results.FailPruned, "A lower load point of the sweep was already overloaded.",
			"Higher loads would only make it slower.", "Nothing. To run such steps anyway, remove prune:."),
	}
}
