CREATE TABLE access_tokens (
	token_id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	token_digest BLOB NOT NULL, 
	name VARCHAR(60) NOT NULL, 
	scopes JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	used_at DATETIME, 
	CONSTRAINT pk_access_tokens PRIMARY KEY (token_id), 
	CONSTRAINT uq_access_tokens_token_digest UNIQUE (token_digest), 
	CONSTRAINT fk_access_tokens_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE account_limits (
	account_id VARCHAR(64) NOT NULL, 
	upload_bytes BIGINT, 
	download_bytes BIGINT, 
	webcam_stream_s INTEGER, 
	app_connections INTEGER, 
	requests_a_minute INTEGER, 
	CONSTRAINT pk_account_limits PRIMARY KEY (account_id), 
	CONSTRAINT fk_account_limits_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE accounts (
	account_id VARCHAR(64) NOT NULL, 
	email VARCHAR(254) NOT NULL, 
	email_key VARCHAR(508) NOT NULL, 
	password_hash VARCHAR(255) NOT NULL, 
	is_admin BOOLEAN NOT NULL, 
	supporter_granted BOOLEAN NOT NULL, 
	supporter_until DATETIME, 
	created_at DATETIME NOT NULL, 
	wrong_link_tries INTEGER NOT NULL, 
	last_wrong_link_try_at DATETIME, verified_at DATETIME, paid_until DATETIME, blocked_at DATETIME, locked_at DATETIME, language VARCHAR(16) DEFAULT '' NOT NULL, browser_language VARCHAR(16) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_accounts PRIMARY KEY (account_id), 
	CONSTRAINT uq_accounts_email_key UNIQUE (email_key)
);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE "apps" (
	app_id VARCHAR(64) NOT NULL, 
	name VARCHAR(60) NOT NULL, 
	return_prefixes JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	returns_to_lan BOOLEAN DEFAULT 0 NOT NULL, 
	owner_id VARCHAR(64), 
	logo_url VARCHAR(2048), 
	takes_other_logos BOOLEAN DEFAULT 1 NOT NULL, 
	max_connections INTEGER, 
	max_connections_a_printer INTEGER, 
	removed_at DATETIME, was_checked BOOLEAN DEFAULT 0 NOT NULL, look VARCHAR(240) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_apps PRIMARY KEY (app_id), 
	CONSTRAINT fk_apps_owner_id FOREIGN KEY(owner_id) REFERENCES accounts (account_id) ON DELETE SET NULL
);
CREATE TABLE connections (
	connection_id VARCHAR(64) NOT NULL, 
	unique_id VARCHAR(63) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	app_id VARCHAR(64), 
	printer_id VARCHAR(64), 
	account_id VARCHAR(64), 
	port INTEGER, 
	created_at DATETIME NOT NULL, 
	revoked_at DATETIME, 
	expires_at DATETIME, 
	basic_digest BLOB, 
	bearer_digest BLOB, 
	app_api_token_digest BLOB, used_at DATETIME, permissions VARCHAR(64) DEFAULT 'control,files,camera,interface' NOT NULL, name VARCHAR(60) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_connections PRIMARY KEY (connection_id), 
	CONSTRAINT uq_connections_unique_id UNIQUE (unique_id), 
	CONSTRAINT uq_connections_port UNIQUE (port), 
	CONSTRAINT uq_connections_app_api_token_digest UNIQUE (app_api_token_digest), 
	CONSTRAINT fk_connections_app_id FOREIGN KEY(app_id) REFERENCES apps (app_id), 
	CONSTRAINT fk_connections_printer_id FOREIGN KEY(printer_id) REFERENCES printers (printer_id) ON DELETE SET NULL, 
	CONSTRAINT fk_connections_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE SET NULL
);
CREATE TABLE "cookie_sessions" (
	cookie_digest BLOB NOT NULL, 
	connection_id VARCHAR(64) NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	session_id VARCHAR(64), 
	CONSTRAINT pk_cookie_sessions PRIMARY KEY (cookie_digest), 
	CONSTRAINT fk_cookie_sessions_connection_id FOREIGN KEY(connection_id) REFERENCES connections (connection_id) ON DELETE CASCADE, 
	CONSTRAINT fk_cookie_sessions_session_id FOREIGN KEY(session_id) REFERENCES sessions (session_id) ON DELETE CASCADE
);
CREATE TABLE detection_claims (
	network VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	claimed_at DATETIME NOT NULL, 
	used_at DATETIME NOT NULL, 
	CONSTRAINT pk_detection_claims PRIMARY KEY (network), 
	CONSTRAINT fk_detection_claims_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE detection_contexts (
	context_id VARCHAR(64) NOT NULL, 
	key_id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	created_at DATETIME NOT NULL, 
	used_at DATETIME NOT NULL, 
	version INTEGER NOT NULL, 
	remembered BLOB NOT NULL, 
	CONSTRAINT pk_detection_contexts PRIMARY KEY (context_id), 
	CONSTRAINT fk_detection_contexts_key_id FOREIGN KEY(key_id) REFERENCES detection_keys (key_id) ON DELETE CASCADE, 
	CONSTRAINT fk_detection_contexts_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE detection_keys (
	key_id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	name VARCHAR(60) NOT NULL, 
	key_digest BLOB NOT NULL, 
	created_at DATETIME NOT NULL, 
	last_used_at DATETIME, 
	disabled_at DATETIME, 
	CONSTRAINT pk_detection_keys PRIMARY KEY (key_id), 
	CONSTRAINT uq_detection_keys_key_digest UNIQUE (key_digest), 
	CONSTRAINT fk_detection_keys_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE detection_switches (
	account_id VARCHAR(64) NOT NULL, 
	free_only BOOLEAN NOT NULL, 
	billing VARCHAR(16) NOT NULL, 
	CONSTRAINT pk_detection_switches PRIMARY KEY (account_id), 
	CONSTRAINT fk_detection_switches_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE detection_usage (
	key_id VARCHAR(64) NOT NULL, 
	day DATE NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	calls INTEGER NOT NULL, 
	paid_calls INTEGER NOT NULL, 
	CONSTRAINT pk_detection_usage PRIMARY KEY (key_id, day), 
	CONSTRAINT fk_detection_usage_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE events (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	printer_id VARCHAR(64) NOT NULL, 
	event_id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	content BLOB NOT NULL, 
	received_at DATETIME NOT NULL, 
	snapshot_id VARCHAR(64), 
	position INTEGER, 
	CONSTRAINT fk_events_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE filament_prices (
	account_id VARCHAR(64) NOT NULL, 
	cents INTEGER NOT NULL, 
	currency VARCHAR(8) NOT NULL, 
	CONSTRAINT pk_filament_prices PRIMARY KEY (account_id), 
	CONSTRAINT fk_filament_prices_account_id_accounts FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE given_orders (
	number INTEGER NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	printer_id VARCHAR(64) NOT NULL, 
	person_id VARCHAR(64), 
	at DATETIME NOT NULL, 
	command VARCHAR(32) NOT NULL, 
	subject VARCHAR(300) NOT NULL, 
	CONSTRAINT pk_given_orders PRIMARY KEY (number), 
	CONSTRAINT fk_given_orders_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE, 
	CONSTRAINT fk_given_orders_person_id FOREIGN KEY(person_id) REFERENCES accounts (account_id) ON DELETE SET NULL
);
CREATE TABLE identities (
	identity_id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	issuer VARCHAR(512) NOT NULL, 
	subject VARCHAR(255) NOT NULL, 
	email VARCHAR(254) NOT NULL, 
	created_at DATETIME NOT NULL, 
	used_at DATETIME, 
	CONSTRAINT pk_identities PRIMARY KEY (identity_id), 
	CONSTRAINT uq_identities_issuer UNIQUE (issuer, subject), 
	CONSTRAINT fk_identities_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE invitations (
	token_digest BLOB NOT NULL, 
	invitation_id VARCHAR(64) NOT NULL, 
	email VARCHAR(254), 
	is_admin BOOLEAN NOT NULL, 
	supporter BOOLEAN NOT NULL, 
	is_setup BOOLEAN NOT NULL, 
	expires_at DATETIME, 
	CONSTRAINT pk_invitations PRIMARY KEY (token_digest), 
	CONSTRAINT uq_invitations_invitation_id UNIQUE (invitation_id)
);
CREATE TABLE last_pictures (
	printer_id VARCHAR(64) NOT NULL, 
	snapshot_id VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_last_pictures PRIMARY KEY (printer_id), 
	CONSTRAINT fk_last_pictures_printer_id FOREIGN KEY(printer_id) REFERENCES printers (printer_id) ON DELETE CASCADE
);
CREATE TABLE leases (
	kind VARCHAR(16) NOT NULL, 
	name VARCHAR(64) NOT NULL, 
	token VARCHAR(64) NOT NULL, 
	leased_until DATETIME NOT NULL, 
	CONSTRAINT pk_leases PRIMARY KEY (kind, name)
);
CREATE TABLE link_codes (
	printer_id VARCHAR(64) NOT NULL, 
	code_digest BLOB NOT NULL, 
	public_key BLOB NOT NULL, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_link_codes PRIMARY KEY (printer_id), 
	CONSTRAINT uq_link_codes_code_digest UNIQUE (code_digest)
);
CREATE TABLE live_links (
	live_id VARCHAR(64) NOT NULL, 
	short_id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	printer_id VARCHAR(64) NOT NULL, 
	connection_id VARCHAR(64), 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	print_id VARCHAR(64) NOT NULL, 
	shows_names BOOLEAN NOT NULL, 
	ended_at DATETIME, 
	"end" VARCHAR(16), 
	last_state VARCHAR(16), 
	last_progress INTEGER, 
	last_file_name VARCHAR(500) NOT NULL, 
	CONSTRAINT pk_live_links PRIMARY KEY (live_id), 
	CONSTRAINT uq_live_links_short_id UNIQUE (short_id), 
	CONSTRAINT fk_live_links_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE, 
	CONSTRAINT fk_live_links_printer_id FOREIGN KEY(printer_id) REFERENCES printers (printer_id) ON DELETE CASCADE
);
CREATE TABLE mail_links (
	token_digest BLOB NOT NULL, 
	purpose VARCHAR(16) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	email VARCHAR(254) NOT NULL, 
	next_path VARCHAR(2048) NOT NULL, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_mail_links PRIMARY KEY (token_digest), 
	CONSTRAINT fk_mail_links_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE nodes (
	node_id VARCHAR(64) NOT NULL, 
	alive_at DATETIME NOT NULL, 
	CONSTRAINT pk_nodes PRIMARY KEY (node_id)
);
CREATE TABLE notices (
	notice_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	topic VARCHAR(16) NOT NULL, 
	"key" VARCHAR(64) NOT NULL, 
	at DATETIME NOT NULL
);
CREATE TABLE notify_counts (
	account_id VARCHAR(64) NOT NULL, 
	day DATE NOT NULL, 
	messages INTEGER NOT NULL, 
	was_told BOOLEAN NOT NULL, 
	CONSTRAINT pk_notify_counts PRIMARY KEY (account_id), 
	CONSTRAINT fk_notify_counts_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE notify_messages (
	message_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	target_id VARCHAR(64) NOT NULL, 
	title VARCHAR(200) NOT NULL, 
	text TEXT NOT NULL, 
	made_at DATETIME NOT NULL, 
	due_at DATETIME NOT NULL, event_seq INTEGER, 
	CONSTRAINT fk_notify_messages_target_id FOREIGN KEY(target_id) REFERENCES notify_targets (target_id) ON DELETE CASCADE
);
CREATE TABLE notify_printers (
	account_id VARCHAR(64) NOT NULL, 
	printer_id VARCHAR(64) NOT NULL, 
	events JSON NOT NULL, 
	CONSTRAINT pk_notify_printers PRIMARY KEY (account_id, printer_id), 
	CONSTRAINT fk_notify_printers_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE notify_settings (
	account_id VARCHAR(64) NOT NULL, 
	events JSON NOT NULL, 
	quiet_begins VARCHAR(5), 
	quiet_ends VARCHAR(5), 
	trouble_passes BOOLEAN NOT NULL, 
	zone VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_notify_settings PRIMARY KEY (account_id), 
	CONSTRAINT fk_notify_settings_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE notify_targets (
	target_id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	way VARCHAR(16) NOT NULL, 
	label VARCHAR(400) NOT NULL, 
	sealed BLOB NOT NULL, 
	created_at DATETIME NOT NULL, 
	sent_at DATETIME, 
	failures INTEGER NOT NULL, 
	trouble VARCHAR(400) NOT NULL, 
	due_at DATETIME, 
	leased_until DATETIME, 
	CONSTRAINT pk_notify_targets PRIMARY KEY (target_id), 
	CONSTRAINT fk_notify_targets_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE "open_tickets" (
	ticket_digest BLOB NOT NULL, 
	connection_id VARCHAR(64) NOT NULL, 
	expires_at DATETIME NOT NULL, 
	session_id VARCHAR(64), 
	CONSTRAINT pk_open_tickets PRIMARY KEY (ticket_digest), 
	CONSTRAINT fk_open_tickets_connection_id FOREIGN KEY(connection_id) REFERENCES connections (connection_id) ON DELETE CASCADE, 
	CONSTRAINT fk_open_tickets_session_id FOREIGN KEY(session_id) REFERENCES sessions (session_id) ON DELETE CASCADE
);
CREATE TABLE operator_acts (
	act_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	at DATETIME NOT NULL, 
	operator VARCHAR(254) NOT NULL, 
	operator_id VARCHAR(64), 
	act VARCHAR(32) NOT NULL, 
	subject VARCHAR(300) NOT NULL, 
	detail VARCHAR(500) NOT NULL
);
CREATE TABLE passkeys (
	credential_id BLOB NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	public_key BLOB NOT NULL, 
	sign_count INTEGER NOT NULL, 
	name VARCHAR(60) NOT NULL, 
	created_at DATETIME NOT NULL, 
	used_at DATETIME, 
	CONSTRAINT pk_passkeys PRIMARY KEY (credential_id), 
	CONSTRAINT fk_passkeys_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE payers (
	account_id VARCHAR(64) NOT NULL, 
	customer_id VARCHAR(255), 
	checkout_id VARCHAR(255), unknown_since DATETIME, 
	CONSTRAINT pk_payers PRIMARY KEY (account_id), 
	CONSTRAINT uq_payers_customer_id UNIQUE (customer_id), 
	CONSTRAINT fk_payers_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE payment_calls (
	event_id VARCHAR(255) NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_payment_calls PRIMARY KEY (event_id)
);
CREATE TABLE portal_flows (
	flow_id VARCHAR(64) NOT NULL, 
	browser_digest BLOB NOT NULL, 
	app_id VARCHAR(64) NOT NULL, 
	return_url VARCHAR(2048) NOT NULL, 
	asked_printer_id VARCHAR(64), 
	logo_url VARCHAR(2048), 
	key_app_name VARCHAR(60), 
	begun_at DATETIME NOT NULL, 
	account_id VARCHAR(64), 
	takes_own_printer BOOLEAN NOT NULL, 
	unnamed_printer_id VARCHAR(64), 
	printer_id VARCHAR(64), 
	is_allowed BOOLEAN NOT NULL, 
	connection_id VARCHAR(64), 
	error VARCHAR(32), permissions VARCHAR(64) DEFAULT 'control,files,camera,interface' NOT NULL, replaces_earlier BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_portal_flows PRIMARY KEY (flow_id), 
	CONSTRAINT fk_portal_flows_app_id FOREIGN KEY(app_id) REFERENCES apps (app_id) ON DELETE CASCADE, 
	CONSTRAINT fk_portal_flows_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE preset_lists (
	account_id VARCHAR(64) NOT NULL, 
	presets TEXT NOT NULL, 
	CONSTRAINT pk_preset_lists PRIMARY KEY (account_id), 
	CONSTRAINT fk_preset_lists_account_id_accounts FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE printer_invitations (
	invitation_id VARCHAR(64) NOT NULL, 
	token_digest BLOB NOT NULL, 
	printer_id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	role VARCHAR(16) NOT NULL, 
	email VARCHAR(254), 
	uses_left INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_printer_invitations PRIMARY KEY (invitation_id), 
	CONSTRAINT fk_printer_invitations_printer_id FOREIGN KEY(printer_id) REFERENCES printers (printer_id) ON DELETE CASCADE, 
	CONSTRAINT fk_printer_invitations_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE, 
	CONSTRAINT uq_printer_invitations_token_digest UNIQUE (token_digest)
);
CREATE TABLE printer_members (
	printer_id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	person_id VARCHAR(64) NOT NULL, 
	role VARCHAR(16) NOT NULL, 
	since DATETIME NOT NULL, 
	seen_at DATETIME, 
	CONSTRAINT pk_printer_members PRIMARY KEY (printer_id, person_id), 
	CONSTRAINT fk_printer_members_printer_id FOREIGN KEY(printer_id) REFERENCES printers (printer_id) ON DELETE CASCADE, 
	CONSTRAINT fk_printer_members_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE, 
	CONSTRAINT fk_printer_members_person_id FOREIGN KEY(person_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE printers (
	printer_id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	name VARCHAR(60) NOT NULL, 
	public_key BLOB NOT NULL, 
	linked_at DATETIME NOT NULL, 
	removed_at DATETIME, 
	platform VARCHAR(64), 
	agent_version VARCHAR(64), 
	lan_ip VARCHAR(64), 
	node_id VARCHAR(64), 
	connected_at DATETIME, 
	disconnected_at DATETIME, cameras TEXT DEFAULT '[]' NOT NULL, lan_port INTEGER, 
	CONSTRAINT pk_printers PRIMARY KEY (printer_id), 
	CONSTRAINT fk_printers_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE prints (
	number INTEGER NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	printer_id VARCHAR(64) NOT NULL, 
	print_id VARCHAR(64) NOT NULL, 
	printer_name VARCHAR(60) NOT NULL, 
	file_name VARCHAR(500) NOT NULL, 
	started_at DATETIME NOT NULL, 
	start_is_known BOOLEAN NOT NULL, 
	heard_at DATETIME NOT NULL, 
	ended_at DATETIME, 
	duration_s INTEGER, 
	progress INTEGER, 
	result VARCHAR(16) NOT NULL, 
	error VARCHAR(500) NOT NULL, 
	filament_mm INTEGER, 
	filament_mg INTEGER, 
	snapshot_id VARCHAR(64), 
	CONSTRAINT pk_prints PRIMARY KEY (number), 
	CONSTRAINT fk_prints_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE push_acts (
	token_digest BLOB NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	target_id VARCHAR(64) NOT NULL, 
	device VARCHAR(400) NOT NULL, 
	printer_id VARCHAR(64) NOT NULL, 
	print_id VARCHAR(64) NOT NULL, 
	act VARCHAR(16) NOT NULL, 
	expires_at DATETIME NOT NULL, 
	used_at DATETIME, 
	outcome TEXT NOT NULL, 
	CONSTRAINT pk_push_acts PRIMARY KEY (token_digest), 
	CONSTRAINT fk_push_acts_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE push_devices (
	target_id VARCHAR(64) NOT NULL, 
	session_id VARCHAR(64) NOT NULL, 
	subscription_digest BLOB NOT NULL, 
	CONSTRAINT pk_push_devices PRIMARY KEY (target_id), 
	CONSTRAINT fk_push_devices_target_id FOREIGN KEY(target_id) REFERENCES notify_targets (target_id) ON DELETE CASCADE, 
	CONSTRAINT uq_push_devices_subscription_digest UNIQUE (subscription_digest)
);
CREATE TABLE recovery_codes (
	account_id VARCHAR(64) NOT NULL, 
	code_digest BLOB NOT NULL, 
	CONSTRAINT pk_recovery_codes PRIMARY KEY (account_id, code_digest), 
	CONSTRAINT fk_recovery_codes_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE service_limits (
	row_id INTEGER NOT NULL, 
	upload_bytes BIGINT, 
	download_bytes BIGINT, 
	webcam_stream_s INTEGER, 
	app_connections INTEGER, 
	requests_a_minute INTEGER, 
	CONSTRAINT pk_service_limits PRIMARY KEY (row_id)
);
CREATE TABLE sessions (
	token_digest BLOB NOT NULL, 
	session_id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	started_at DATETIME NOT NULL, 
	seen_at DATETIME NOT NULL, 
	address VARCHAR(64) NOT NULL, 
	browser VARCHAR(300) NOT NULL, 
	CONSTRAINT pk_sessions PRIMARY KEY (token_digest), 
	CONSTRAINT uq_sessions_session_id UNIQUE (session_id), 
	CONSTRAINT fk_sessions_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE shown_once (
	account_id VARCHAR(64) NOT NULL, 
	about VARCHAR(200) NOT NULL, 
	sealed BLOB NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_shown_once PRIMARY KEY (account_id, about), 
	CONSTRAINT fk_shown_once_account_id_accounts FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE snapshots (
	snapshot_id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	printer_id VARCHAR(64) NOT NULL, 
	taken_at DATETIME NOT NULL, 
	size INTEGER NOT NULL, 
	CONSTRAINT pk_snapshots PRIMARY KEY (snapshot_id)
);
CREATE TABLE steps (
	token_digest BLOB NOT NULL, 
	awaits VARCHAR(16) NOT NULL, 
	account_id VARCHAR(64), 
	challenge BLOB NOT NULL, 
	expires_at DATETIME NOT NULL, next_path VARCHAR(2048) DEFAULT '/' NOT NULL, 
	CONSTRAINT pk_steps PRIMARY KEY (token_digest), 
	CONSTRAINT fk_steps_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE subscriptions (
	subscription_id VARCHAR(255) NOT NULL, 
	customer_id VARCHAR(255) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	begun_at DATETIME NOT NULL, 
	period_begins_at DATETIME NOT NULL, 
	period_ends_at DATETIME NOT NULL, 
	ends_at DATETIME, 
	asked_at DATETIME NOT NULL, 
	CONSTRAINT pk_subscriptions PRIMARY KEY (subscription_id), 
	CONSTRAINT fk_subscriptions_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE timelapse_days (
	account_id VARCHAR(64) NOT NULL, 
	days INTEGER NOT NULL, 
	CONSTRAINT pk_timelapse_days PRIMARY KEY (account_id), 
	CONSTRAINT fk_timelapse_days_account_id_accounts FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE timelapse_pictures (
	snapshot_id VARCHAR(64) NOT NULL, 
	timelapse_id VARCHAR(64) NOT NULL, 
	taken_at DATETIME NOT NULL, 
	is_events BOOLEAN NOT NULL, 
	CONSTRAINT pk_timelapse_pictures PRIMARY KEY (snapshot_id, timelapse_id), 
	CONSTRAINT fk_timelapse_pictures_timelapse_id_timelapses FOREIGN KEY(timelapse_id) REFERENCES timelapses (timelapse_id) ON DELETE CASCADE
);
CREATE TABLE timelapses (
	timelapse_id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	printer_id VARCHAR(64) NOT NULL, 
	print_id VARCHAR(64) NOT NULL, 
	gap_s INTEGER NOT NULL, 
	tries INTEGER NOT NULL, 
	due_at DATETIME, 
	leased_until DATETIME, 
	video_id VARCHAR(64), 
	size INTEGER NOT NULL, 
	made_at DATETIME, 
	CONSTRAINT pk_timelapses PRIMARY KEY (timelapse_id), 
	CONSTRAINT uq_timelapses_video_id UNIQUE (video_id)
);
CREATE TABLE totp_apps (
	account_id VARCHAR(64) NOT NULL, 
	secret BLOB NOT NULL, 
	confirmed_at DATETIME, 
	last_step INTEGER NOT NULL, is_sealed BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_totp_apps PRIMARY KEY (account_id), 
	CONSTRAINT fk_totp_apps_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE tries (
	"key" VARCHAR(160) NOT NULL, 
	busy_until DATETIME NOT NULL, 
	CONSTRAINT pk_tries PRIMARY KEY ("key")
);
CREATE TABLE waiting_mails (
	mail_id VARCHAR(64) NOT NULL, 
	sealed BLOB NOT NULL, 
	due_at DATETIME NOT NULL, 
	until DATETIME NOT NULL, 
	failures INTEGER NOT NULL, 
	CONSTRAINT pk_waiting_mails PRIMARY KEY (mail_id)
);
CREATE TABLE watch_backgrounds (
	printer_id VARCHAR(64) NOT NULL, 
	camera INTEGER NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	content BLOB NOT NULL, 
	CONSTRAINT pk_watch_backgrounds PRIMARY KEY (printer_id, camera), 
	CONSTRAINT fk_watch_backgrounds_printer_id FOREIGN KEY(printer_id) REFERENCES printers (printer_id) ON DELETE CASCADE, 
	CONSTRAINT fk_watch_backgrounds_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE watch_judgements (
	printer_id VARCHAR(64) NOT NULL, 
	print_id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	camera INTEGER, 
	at DATETIME NOT NULL, 
	was_failure BOOLEAN NOT NULL, 
	picture VARCHAR(64), 
	CONSTRAINT pk_watch_judgements PRIMARY KEY (printer_id, print_id), 
	CONSTRAINT fk_watch_judgements_printer_id FOREIGN KEY(printer_id) REFERENCES printers (printer_id) ON DELETE CASCADE, 
	CONSTRAINT fk_watch_judgements_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE watch_looks (
	number INTEGER NOT NULL, 
	printer_id VARCHAR(64) NOT NULL, 
	print_id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	at DATETIME NOT NULL, 
	probability FLOAT NOT NULL, 
	score INTEGER NOT NULL, 
	quality INTEGER NOT NULL, 
	"view" VARCHAR(16) NOT NULL, 
	warned BOOLEAN NOT NULL, 
	paused BOOLEAN NOT NULL, 
	evidence BLOB, 
	picture VARCHAR(64), camera INTEGER, 
	CONSTRAINT pk_watch_looks PRIMARY KEY (number), 
	CONSTRAINT fk_watch_looks_printer_id FOREIGN KEY(printer_id) REFERENCES printers (printer_id) ON DELETE CASCADE, 
	CONSTRAINT fk_watch_looks_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE watch_settings (
	printer_id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	content BLOB NOT NULL, 
	CONSTRAINT pk_watch_settings PRIMARY KEY (printer_id), 
	CONSTRAINT fk_watch_settings_printer_id FOREIGN KEY(printer_id) REFERENCES printers (printer_id) ON DELETE CASCADE, 
	CONSTRAINT fk_watch_settings_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE watches (
	printer_id VARCHAR(64) NOT NULL, 
	print_id VARCHAR(64) NOT NULL, 
	account_id VARCHAR(64) NOT NULL, 
	memory BLOB NOT NULL, 
	due_at DATETIME NOT NULL, 
	falters BOOLEAN NOT NULL, 
	token VARCHAR(64), 
	resumed_at DATETIME, 
	ended_at DATETIME, 
	CONSTRAINT pk_watches PRIMARY KEY (printer_id, print_id), 
	CONSTRAINT fk_watches_printer_id FOREIGN KEY(printer_id) REFERENCES printers (printer_id) ON DELETE CASCADE, 
	CONSTRAINT fk_watches_account_id FOREIGN KEY(account_id) REFERENCES accounts (account_id) ON DELETE CASCADE
);
CREATE TABLE webhook_deliveries (
	delivery_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	connection_id VARCHAR(64) NOT NULL, 
	event_id VARCHAR(64) NOT NULL, 
	event_type INTEGER NOT NULL, 
	print_id VARCHAR(64) NOT NULL, 
	at DATETIME NOT NULL, 
	body BLOB NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	attempts INTEGER NOT NULL, 
	due_at DATETIME, 
	attempted_at DATETIME, 
	http_status INTEGER, 
	duration_ms INTEGER, 
	error VARCHAR(500), 
	ended_at DATETIME, 
	CONSTRAINT fk_webhook_deliveries_connection_id FOREIGN KEY(connection_id) REFERENCES connections (connection_id) ON DELETE CASCADE
);
CREATE TABLE webhooks (
	connection_id VARCHAR(64) NOT NULL, 
	url VARCHAR(2048) NOT NULL, 
	event_filter JSON NOT NULL, 
	set_at DATETIME NOT NULL, 
	failing_since DATETIME, 
	failures INTEGER NOT NULL, 
	last_success_at DATETIME, 
	disabled_at DATETIME, 
	disabled_reason VARCHAR(500), 
	next_at DATETIME, 
	lease VARCHAR(64), 
	CONSTRAINT pk_webhooks PRIMARY KEY (connection_id), 
	CONSTRAINT fk_webhooks_connection_id FOREIGN KEY(connection_id) REFERENCES connections (connection_id) ON DELETE CASCADE
);
CREATE INDEX ix_access_tokens_account_id ON access_tokens (account_id);
CREATE INDEX ix_apps_look ON apps (look);
CREATE INDEX ix_apps_owner_id ON apps (owner_id);
CREATE INDEX ix_connections_account_id ON connections (account_id);
CREATE INDEX ix_connections_app_id ON connections (app_id);
CREATE INDEX ix_connections_printer_id ON connections (printer_id);
CREATE INDEX ix_cookie_sessions_connection_id ON cookie_sessions (connection_id);
CREATE INDEX ix_cookie_sessions_session_id ON cookie_sessions (session_id);
CREATE INDEX ix_detection_claims_account_id ON detection_claims (account_id);
CREATE INDEX ix_detection_claims_used_at ON detection_claims (used_at);
CREATE INDEX ix_detection_contexts_account_id ON detection_contexts (account_id, used_at);
CREATE INDEX ix_detection_contexts_created_at ON detection_contexts (created_at);
CREATE INDEX ix_detection_contexts_key_id ON detection_contexts (key_id);
CREATE INDEX ix_detection_keys_account_id ON detection_keys (account_id);
CREATE INDEX ix_detection_usage_account_id ON detection_usage (account_id, day);
CREATE INDEX ix_events_account_id ON events (account_id, position);
CREATE INDEX ix_events_awaiting ON events (seq) WHERE position IS NULL;
CREATE UNIQUE INDEX ix_events_position ON events (position);
CREATE INDEX ix_events_received_at ON events (received_at);
CREATE INDEX ix_given_orders_account_id ON given_orders (account_id);
CREATE INDEX ix_given_orders_person_id ON given_orders (person_id);
CREATE INDEX ix_given_orders_printer_id ON given_orders (printer_id, account_id, at);
CREATE INDEX ix_identities_account_id ON identities (account_id);
CREATE INDEX ix_last_pictures_snapshot_id ON last_pictures (snapshot_id);
CREATE INDEX ix_live_links_account_id ON live_links (account_id);
CREATE INDEX ix_live_links_ended_at ON live_links (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX ix_live_links_expires_at ON live_links (expires_at);
CREATE INDEX ix_live_links_printer_id ON live_links (printer_id);
CREATE INDEX ix_mail_links_account_id ON mail_links (account_id);
CREATE INDEX ix_mail_links_expires_at ON mail_links (expires_at);
CREATE INDEX ix_notices_at ON notices (at);
CREATE INDEX ix_notify_messages_target_id ON notify_messages (target_id, due_at, message_id);
CREATE INDEX ix_notify_targets_account_id ON notify_targets (account_id);
CREATE INDEX ix_notify_targets_due_at ON notify_targets (due_at);
CREATE INDEX ix_notify_targets_leased_until ON notify_targets (leased_until) WHERE leased_until IS NOT NULL;
CREATE INDEX ix_open_tickets_connection_id ON open_tickets (connection_id);
CREATE INDEX ix_open_tickets_session_id ON open_tickets (session_id);
CREATE INDEX ix_operator_acts_at ON operator_acts (at);
CREATE INDEX ix_passkeys_account_id ON passkeys (account_id);
CREATE INDEX ix_payment_calls_at ON payment_calls (at);
CREATE INDEX ix_portal_flows_account_id ON portal_flows (account_id);
CREATE INDEX ix_portal_flows_begun_at ON portal_flows (begun_at);
CREATE INDEX ix_printer_invitations_account_id ON printer_invitations (account_id);
CREATE INDEX ix_printer_invitations_expires_at ON printer_invitations (expires_at);
CREATE INDEX ix_printer_invitations_printer_id ON printer_invitations (printer_id);
CREATE INDEX ix_printer_members_account_id ON printer_members (account_id);
CREATE INDEX ix_printer_members_person_id ON printer_members (person_id);
CREATE INDEX ix_printers_account_id ON printers (account_id);
CREATE INDEX ix_prints_account_id ON prints (account_id, started_at, number);
CREATE INDEX ix_prints_printer_id ON prints (printer_id, account_id, started_at, number);
CREATE INDEX ix_prints_started_at ON prints (started_at);
CREATE INDEX ix_push_acts_account_id ON push_acts (account_id);
CREATE INDEX ix_push_acts_expires_at ON push_acts (expires_at);
CREATE INDEX ix_push_acts_print_id ON push_acts (printer_id, print_id);
CREATE INDEX ix_push_devices_session_id ON push_devices (session_id);
CREATE INDEX ix_sessions_account_id ON sessions (account_id);
CREATE INDEX ix_sessions_seen_at ON sessions (seen_at);
CREATE INDEX ix_shown_once_at ON shown_once (at);
CREATE INDEX ix_snapshots_account_id ON snapshots (account_id);
CREATE INDEX ix_snapshots_printer_id ON snapshots (printer_id, taken_at);
CREATE INDEX ix_snapshots_taken_at ON snapshots (taken_at);
CREATE INDEX ix_steps_account_id ON steps (account_id);
CREATE INDEX ix_steps_expires_at ON steps (expires_at);
CREATE INDEX ix_subscriptions_account_id ON subscriptions (account_id);
CREATE INDEX ix_timelapse_pictures_timelapse_id ON timelapse_pictures (timelapse_id);
CREATE INDEX ix_timelapses_account_id ON timelapses (account_id, made_at);
CREATE INDEX ix_timelapses_due_at ON timelapses (due_at);
CREATE INDEX ix_timelapses_made_at ON timelapses (made_at);
CREATE INDEX ix_tries_busy_until ON tries (busy_until);
CREATE INDEX ix_waiting_mails_due_at ON waiting_mails (due_at);
CREATE INDEX ix_waiting_mails_until ON waiting_mails (until);
CREATE INDEX ix_watch_backgrounds_account_id ON watch_backgrounds (account_id);
CREATE INDEX ix_watch_judgements_account_id ON watch_judgements (account_id);
CREATE INDEX ix_watch_judgements_at ON watch_judgements (at);
CREATE INDEX ix_watch_judgements_picture ON watch_judgements (picture);
CREATE INDEX ix_watch_looks_account_id ON watch_looks (account_id);
CREATE INDEX ix_watch_looks_at ON watch_looks (at);
CREATE INDEX ix_watch_looks_print ON watch_looks (printer_id, print_id, number);
CREATE INDEX ix_watch_settings_account_id ON watch_settings (account_id);
CREATE INDEX ix_watches_account_id ON watches (account_id);
CREATE INDEX ix_watches_due_at ON watches (falters, due_at) WHERE ended_at IS NULL;
CREATE INDEX ix_watches_ended_at ON watches (ended_at);
CREATE INDEX ix_webhook_deliveries_connection_id ON webhook_deliveries (connection_id, delivery_id);
CREATE INDEX ix_webhook_deliveries_due_at ON webhook_deliveries (connection_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX ix_webhook_deliveries_ended_at ON webhook_deliveries (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX ix_webhook_deliveries_print_id ON webhook_deliveries (connection_id, print_id, delivery_id) WHERE event_type IN (2, 3, 6);
CREATE INDEX ix_webhooks_next_at ON webhooks (next_at) WHERE next_at IS NOT NULL;
CREATE UNIQUE INDEX uq_events_event_id ON events (event_id, printer_id);
CREATE UNIQUE INDEX uq_prints_print_id ON prints (print_id, printer_id, account_id);
CREATE UNIQUE INDEX uq_timelapses_print_id ON timelapses (print_id, printer_id, account_id);
CREATE UNIQUE INDEX uq_webhook_deliveries_event_id ON webhook_deliveries (event_id, connection_id);
INSERT INTO alembic_version VALUES ('0040');
