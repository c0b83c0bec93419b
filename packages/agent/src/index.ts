export { Agent, type AgentSetup } from './agent.ts';
export { describeMachine, type FactsOptions } from './machine-facts.ts';
