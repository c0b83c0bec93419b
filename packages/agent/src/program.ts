import path from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import { readToken } from '@mutirao/runtime/files';
import { agentTrust } from '@mutirao/runtime/identity';
import { bytes, defineProgram, duration, integer, list, text, traceOption, type ConfigOf, type ProgramContext } from '@mutirao/runtime/program';

const options = {
  provider: text({ help: 'Address of the provider.', placeholder: 'HOST:PORT' }),
  providerId: text({ help: 'Name of the provider.', placeholder: 'ID' }),
  machineId: text({ help: 'Name of this machine at its provider; the host\'s name, or the request and the place in it, when empty.', placeholder: 'NAME' }),
  request: text({ help: 'The allocation request that started this agent; empty for a machine of one\'s own.', placeholder: 'ID' }),
  credentialFile: text({ help: 'File with the credential; MUTIRAO_CREDENTIAL holds it too. The file that a provider of the same home folder wrote when both are empty.', placeholder: 'FILE' }),
  processors: integer({ help: 'Processors to offer; 0 for all of the host, or one in an allocation.', default: 0, min: 0, max: 4096 }),
  site: text({ help: 'The attribute "site".', placeholder: 'NAME' }),
  attribute: list({ help: 'What else requirements may ask for.', placeholder: 'NAME=VALUE' }),
  storage: bytes({ help: 'Most that kept contents of files may hold.', default: 10 * 2 ** 30 }),
  orphanTimeout: duration({ help: 'Gives up after so long without a provider.', default: 600_000 }),
  killGrace: duration({ help: 'Time between asking a task to end and killing it.', default: 5000 }),
  stopGrace: duration({ help: 'Longest time that stopping takes.', default: 1500 }),
  trace: traceOption,
};

/** The agent on one machine: runs tasks there for brokers that its provider speaks for. */
export const agentProgram = defineProgram({ name: 'agent', summary: 'Runs tasks on this machine for the brokers of a provider.', options, run });

async function run(config: ConfigOf<typeof options>, context: ProgramContext): Promise<void> {
  if (config.provider === '') throw new MutiraoError('MUT_BAD_CONFIG', '--provider is empty; want the address of a provider');
  const credential = readCredential(config, context.home);
  // Loaded only now, so that --help is quick.
  const [{ Agent }, { describeMachine }] = await Promise.all([import('./agent.ts'), import('./machine-facts.ts')]);
  const facts = describeMachine({ ...config, attributes: config.attribute }, process.env);
  const { log, signal } = context;
  const agent = await Agent.start({
    facts, provider: config.provider, credential, trust: agentTrust(context.home), orphanTimeout: config.orphanTimeout,
    folder: path.join(context.home, 'agents', facts.machineId.replaceAll('/', '_')), keepsFiles: facts.requestId === '',
    machine: {
      killGrace: config.killGrace, contentBytesMax: config.storage, startedDelay: 10, reportInterval: 50, unacknowledgedMax: 10_000,
      unacknowledgedBytesMax: 64 * 2 ** 20, prefetchMax: facts.processors + 16,
    },
    trace: config.trace, log, onFatal: context.fail,
  });
  log.info({ machine: facts.machineId, processors: facts.processors, provider: config.provider }, 'started');
  const onStop = (): void => { agent.stop('the agent was told to stop', config.stopGrace); };
  if (signal.aborted) onStop();
  else signal.addEventListener('abort', onStop, { once: true });
  const error = await agent.done;
  await agent.close();
  if (error !== undefined) throw error;
  log.info({ machine: facts.machineId }, 'left');
}

/**
 * An allocation has a credential of its own; a machine of the user's shows one that the provider wrote to a file.
 *
 * @throws {MutiraoError} MUT_BAD_CONFIG, MUT_UNAUTHENTICATED, MUT_TOKEN_UNSAFE
 */
function readCredential(config: ConfigOf<typeof options>, home: string): string {
  const given = process.env['MUTIRAO_CREDENTIAL'] ?? '';
  if (given !== '') return given;
  if (config.credentialFile !== '') return readToken(config.credentialFile);
  const providerId = config.providerId === '' ? config.machineId.split('/')[0] ?? '' : config.providerId;
  if (config.request !== '' || providerId === '') {
    throw new MutiraoError('MUT_BAD_CONFIG', 'MUTIRAO_CREDENTIAL and --credential-file are empty; want the credential that the provider gave');
  }
  return readToken(path.join(home, 'providers', providerId, 'machine-token'));
}
