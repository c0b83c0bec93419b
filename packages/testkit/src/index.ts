export { aCallContext, inject } from './inject.ts';
export { aGroup, aJob, aMachine, anEnd } from './broker.ts';
export { checkInteractions, playInteractions, type Comparison, type Perform } from './interaction.ts';
export { describeProviderCommand, ProviderDialogue } from './provider-dialogue.ts';
export { streamPair, type StreamEnd } from './stream-pair.ts';
export { until } from './until.ts';
export { BrokerClient, taskGroup } from './grid/broker-client.ts';
export { Grid, type GridOptions } from './grid/grid.ts';
export { Program, type ProgramName } from './grid/program.ts';
