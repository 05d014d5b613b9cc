//! `app_security`: what runs may do, and what they do it with (APP-30).

use std::collections::BTreeMap;

use rmcp::model::Tool;
use ropewalk_protocol::{
    Capability, EndpointId, EndpointRemove, EndpointSet, GrantAdd, GrantId, GrantRemove, Method, PolicyDecision,
    PolicyId, PolicyLevel, PolicyRemove, PolicySet, PolicyTool, ProjectId, ProjectUpdate, SecretRemove, SecretSet,
    SecurityReplace, ServerId, ServerUpdate, SettingsUpdate, ThreadId, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Change, How, Request, ToolError, listed, needed, request, revised, said};
use crate::tools::servers::Place;

pub const NAME: &str = "app_security";

const DESCRIPTION: &str = "Changes what runs may do, one operation a call: directory grants and tool policies of a project, \
    policies of a thread or of all of it, global settings, endpoints and their keys, and which servers are on. Whatever lets \
    runs do more than before is asked of a person each time and shows the exact change. AddDirectoryGrant and \
    RemoveDirectoryGrant change one grant and need the project's revision; SetProjectSecurity replaces all grants and policies \
    of a project, so read the Project first: what you leave out is taken back, and with dryRun it only says what would change. \
    A key can be stored and never read.";

/// What can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SecurityOperation {
    AddDirectoryGrant,
    RemoveDirectoryGrant,
    SetProjectSecurity,
    SetProjectToolPolicy,
    RemoveProjectToolPolicy,
    SetThreadToolPolicy,
    RemoveThreadToolPolicy,
    SetGlobalToolPolicy,
    RemoveGlobalToolPolicy,
    SaveGlobalSettings,
    UpsertEndpoint,
    RemoveEndpoint,
    SetEndpointCredential,
    SetMcpServerEnabled,
    SetMcpCredential,
}

/// The arguments of `app_security`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SecurityChange {
    /// What to do.
    pub operation: SecurityOperation,
    /// A name you give this change, so that repeating the call does not do it twice.
    pub operation_id: String,
    /// The project. Left out: your own.
    #[serde(default)]
    pub project_id: Option<ProjectId>,
    /// The thread of a thread's policy. Left out: your own.
    #[serde(default)]
    pub thread_id: Option<ThreadId>,
    /// The directory of AddDirectoryGrant, absolute.
    #[serde(default)]
    pub path: Option<String>,
    /// What a grant allows.
    #[serde(default)]
    pub capabilities: Option<Vec<Capability>>,
    /// The name of a grant or an endpoint.
    #[serde(default)]
    pub name: Option<String>,
    /// The grant of RemoveDirectoryGrant.
    #[serde(default)]
    pub grant_id: Option<GrantId>,
    /// All grants of SetProjectSecurity, each as app_read Project shows them: path, capabilities, name.
    #[serde(default)]
    pub grants: Option<Vec<BTreeMap<String, Value>>>,
    /// All policies of SetProjectSecurity, each as app_read Project shows them: tool or source, decision and what else it says.
    #[serde(default)]
    pub policies: Option<Vec<BTreeMap<String, Value>>>,
    /// The tool a policy is about.
    #[serde(default)]
    pub tool: Option<PolicyTool>,
    /// The source a policy is about, where it is about no single tool.
    #[serde(default)]
    pub source: Option<String>,
    /// What a policy says.
    #[serde(default)]
    pub decision: Option<PolicyDecision>,
    /// How long a call may be silent under a policy.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// How many calls one run may make under a policy.
    #[serde(default)]
    pub max_calls_per_run: Option<u64>,
    /// When a policy stops to hold.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// The policy of the Remove operations.
    #[serde(default)]
    pub policy_id: Option<PolicyId>,
    /// The fields SaveGlobalSettings sets, as app_read Settings shows them; null puts one back.
    #[serde(default)]
    pub settings: Option<BTreeMap<String, Value>>,
    /// The endpoint; left out of UpsertEndpoint: a new one.
    #[serde(default)]
    pub endpoint_id: Option<EndpointId>,
    /// The fields UpsertEndpoint sets, as app_read Settings shows them.
    #[serde(default)]
    pub endpoint: Option<BTreeMap<String, Value>>,
    /// The key of SetEndpointCredential; left out: the stored one is removed.
    #[serde(default)]
    #[schemars(extend("writeOnly" = true))]
    pub credential: Option<String>,
    /// The server of SetMcpServerEnabled.
    #[serde(default)]
    pub server_id: Option<ServerId>,
    /// Whether a server is on: for the project where projectId is given, else for all.
    #[serde(default)]
    pub enabled: Option<bool>,
    /// The revision you read.
    #[serde(default)]
    pub expected_revision: Option<u64>,
    /// For SetProjectSecurity: true to be told what would change.
    #[serde(default)]
    pub dry_run: Option<bool>,
}

/// How the tool is listed.
pub fn tool() -> Tool {
    listed::<SecurityChange>(NAME, "Change security", DESCRIPTION)
}

impl Change for SecurityChange {
    fn how(&self) -> How {
        let replaces = self.operation == SecurityOperation::SetProjectSecurity;
        // Unlike a deletion, it is done unless it is to be rehearsed (APP-148, APP-174).
        let dry_run = if replaces { Some(self.dry_run.unwrap_or(false)) } else { self.dry_run };
        How { operation_id: self.operation_id.clone(), dry_run, expected_revision: self.expected_revision }
    }

    fn request(&self, place: &Place) -> Result<Request, ToolError> {
        use SecurityOperation as Op;
        let project = self.project_id.as_ref().unwrap_or(&place.project_id);
        match self.operation {
            Op::AddDirectoryGrant => {
                let path = needed(self.path.as_ref(), "AddDirectoryGrant", "path")?;
                let capabilities = needed(self.capabilities.as_ref(), "AddDirectoryGrant", "capabilities")?;
                let params =
                    json!({"projectId": project, "path": path, "capabilities": capabilities, "name": self.name});
                let effect = format!("Granted project {project} the directory {path}.");
                Ok(revised(request("AddDirectoryGrant", GrantAdd::NAME, params, effect)))
            }
            Op::RemoveDirectoryGrant => {
                let grant = needed(self.grant_id.as_ref(), "RemoveDirectoryGrant", "grantId")?;
                let params = json!({"projectId": project, "grantId": grant});
                Ok(revised(request("RemoveDirectoryGrant", GrantRemove::NAME, params, String::new())))
            }
            Op::SetProjectSecurity => {
                let grants = needed(self.grants.as_ref(), "SetProjectSecurity", "grants")?;
                let policies = needed(self.policies.as_ref(), "SetProjectSecurity", "policies")?;
                let params = json!({"projectId": project, "grants": grants, "policies": policies});
                let replaced = request("SetProjectSecurity", SecurityReplace::NAME, params, String::new());
                Ok(Request { is_rehearsed: true, ..revised(replaced) })
            }
            Op::SetProjectToolPolicy => {
                self.policy("SetProjectToolPolicy", PolicyLevel::Project, json!({"projectId": project}))
            }
            Op::SetThreadToolPolicy => {
                let thread = self.thread_id.as_ref().unwrap_or(&place.thread_id);
                self.policy("SetThreadToolPolicy", PolicyLevel::Thread, json!({"threadId": thread}))
            }
            Op::SetGlobalToolPolicy => self.policy("SetGlobalToolPolicy", PolicyLevel::Global, json!({})),
            Op::RemoveProjectToolPolicy => self.removal("RemoveProjectToolPolicy", PolicyLevel::Project),
            Op::RemoveThreadToolPolicy => self.removal("RemoveThreadToolPolicy", PolicyLevel::Thread),
            Op::RemoveGlobalToolPolicy => self.removal("RemoveGlobalToolPolicy", PolicyLevel::Global),
            Op::SaveGlobalSettings => {
                let settings = needed(self.settings.as_ref(), "SaveGlobalSettings", "settings")?;
                let effect = "Changed the global settings.".to_owned();
                let request = request("SaveGlobalSettings", SettingsUpdate::NAME, json!({}), effect);
                Ok(revised(Request { params: settings.clone().into_iter().collect(), ..request }))
            }
            Op::UpsertEndpoint | Op::RemoveEndpoint | Op::SetEndpointCredential => self.of_endpoint(),
            Op::SetMcpServerEnabled => self.switch(),
            Op::SetMcpCredential => {
                let message = "SetMcpCredential is not possible: servers have no accounts yet. The owner gives a server what \
                               it needs in its environment, with ropewalk mcp add --env. Nothing was done.";
                Err(ToolError(message.to_owned()))
            }
        }
    }
}

impl SecurityChange {
    fn policy(&self, operation: &'static str, level: PolicyLevel, of: Value) -> Result<Request, ToolError> {
        let decision = needed(self.decision.as_ref(), operation, "decision")?;
        if self.tool.is_none() && self.source.is_none() {
            return Err(ToolError(format!("{operation} needs tool or source. Nothing was done.")));
        }
        let params = json!({
            "level": level, "tool": self.tool, "source": self.source, "decision": decision, "timeoutMs": self.timeout_ms,
            "maxCallsPerRun": self.max_calls_per_run, "expiresAt": self.expires_at,
        });
        let subject = self.tool.as_ref().map(|tool| format!("{} of {}", tool.name, tool.source));
        let subject = subject.or_else(|| self.source.clone()).unwrap_or_default();
        let word = json!(decision).as_str().unwrap_or_default().to_owned();
        let mut request = request(operation, PolicySet::NAME, params, format!("Set the policy {word} for {subject}."));
        request.params.extend(said(of));
        Ok(request)
    }

    fn removal(&self, operation: &'static str, level: PolicyLevel) -> Result<Request, ToolError> {
        let policy = needed(self.policy_id.as_ref(), operation, "policyId")?;
        let removal = revised(request(operation, PolicyRemove::NAME, json!({"policyId": policy}), String::new()));
        Ok(Request { takes_back: Some((policy.clone(), level)), ..removal })
    }

    fn of_endpoint(&self) -> Result<Request, ToolError> {
        let endpoint = |operation| needed(self.endpoint_id.as_ref(), operation, "endpointId");
        if self.operation == SecurityOperation::UpsertEndpoint {
            let fields = needed(self.endpoint.as_ref(), "UpsertEndpoint", "endpoint")?;
            let effect = if self.endpoint_id.is_some() { "Changed the endpoint." } else { "Added the endpoint." };
            let request = request("UpsertEndpoint", EndpointSet::NAME, json!({}), effect.to_owned());
            let mut params: serde_json::Map<_, _> = fields.clone().into_iter().collect();
            params.extend(said(json!({"endpointId": self.endpoint_id, "name": self.name})));
            // A new one has no revision yet.
            return Ok(Request { params, has_revision: self.endpoint_id.is_some(), ..request });
        }
        if self.operation == SecurityOperation::RemoveEndpoint {
            let params = json!({"endpointId": endpoint("RemoveEndpoint")?});
            return Ok(revised(request("RemoveEndpoint", EndpointRemove::NAME, params, String::new())));
        }
        let endpoint = endpoint("SetEndpointCredential")?;
        Ok(match &self.credential {
            Some(key) => {
                let params = json!({"endpointId": endpoint, "value": key});
                request("SetEndpointCredential", SecretSet::NAME, params, format!("Stored the key of {endpoint}."))
            }
            None => {
                let effect = format!("Removed the key of {endpoint}.");
                request("SetEndpointCredential", SecretRemove::NAME, json!({"endpointId": endpoint}), effect)
            }
        })
    }

    fn switch(&self) -> Result<Request, ToolError> {
        let server = needed(self.server_id.as_ref(), "SetMcpServerEnabled", "serverId")?;
        let is_on = *needed(self.enabled.as_ref(), "SetMcpServerEnabled", "enabled")?;
        let word = if is_on { "on" } else { "off" };
        Ok(match &self.project_id {
            Some(project) => {
                let params = json!({"projectId": project, "servers": [{"serverId": server, "enabled": is_on}]});
                let effect = format!("Switched {server} {word} for project {project}.");
                request("SetMcpServerEnabled", ProjectUpdate::NAME, params, effect)
            }
            None => {
                let params = json!({"serverId": server, "enabled": is_on});
                request("SetMcpServerEnabled", ServerUpdate::NAME, params, format!("Switched {server} {word}."))
            }
        })
    }
}
