export { shapeNodes, type ClusterNode, type NodePart } from './cluster-node.ts';
export { NodeUse, type NodeGrant } from './node-grants.ts';
export { NodePlan } from './node-plan.ts';
