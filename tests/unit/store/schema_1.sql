BEGIN TRANSACTION;
CREATE TABLE chunks (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	version_id VARCHAR(32) NOT NULL, 
	ordinal INTEGER NOT NULL, 
	page_index INTEGER NOT NULL, 
	start INTEGER NOT NULL, 
	page_index_end INTEGER NOT NULL, 
	"end" INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	prefix TEXT NOT NULL, 
	heading TEXT NOT NULL, 
	tokens INTEGER NOT NULL, 
	sentences BLOB NOT NULL, 
	text_hash BLOB NOT NULL, 
	embedding_id INTEGER, 
	FOREIGN KEY(version_id) REFERENCES versions (id)
);
CREATE TABLE conversation_collections (
	conversation_id VARCHAR(32) NOT NULL, 
	collection TEXT NOT NULL, 
	PRIMARY KEY (conversation_id, collection), 
	FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE CASCADE
);
CREATE TABLE conversations (
	id VARCHAR(32) NOT NULL, 
	title TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	pinned BOOLEAN NOT NULL, 
	documents JSON NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE documents (
	id VARCHAR(32) NOT NULL, 
	name TEXT NOT NULL, 
	collection TEXT NOT NULL, 
	active_version VARCHAR(32), 
	added_at DATETIME NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE embeddings (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	space VARCHAR(32) NOT NULL, 
	text_hash BLOB NOT NULL, 
	dense BLOB NOT NULL, 
	scales BLOB NOT NULL, 
	tokens BLOB NOT NULL, 
	UNIQUE (space, text_hash)
);
CREATE TABLE evaluations (
	id VARCHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	result JSON NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE feedback (
	message_id VARCHAR(32) NOT NULL, 
	good BOOLEAN NOT NULL, 
	note TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (message_id), 
	FOREIGN KEY(message_id) REFERENCES messages (id) ON DELETE CASCADE
);
CREATE TABLE generations (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	fingerprint JSON NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	created_at DATETIME NOT NULL
);
CREATE TABLE hidden_texts (
	version_id VARCHAR(32) NOT NULL, 
	page_index INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (version_id, page_index), 
	FOREIGN KEY(version_id) REFERENCES versions (id)
);
CREATE TABLE jobs (
	id VARCHAR(32) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	name TEXT NOT NULL, 
	document_id VARCHAR(32), 
	version_id VARCHAR(32), 
	stage VARCHAR(32) NOT NULL, 
	done INTEGER NOT NULL, 
	total INTEGER NOT NULL, 
	result VARCHAR(16), 
	reason TEXT NOT NULL, 
	details JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	started_at DATETIME, 
	finished_at DATETIME, 
	PRIMARY KEY (id)
);
CREATE TABLE labels (
	id VARCHAR(32) NOT NULL, 
	question TEXT NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	evidence JSON NOT NULL, 
	answers JSON NOT NULL, 
	message_id VARCHAR(32), 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE messages (
	id VARCHAR(32) NOT NULL, 
	conversation_id VARCHAR(32) NOT NULL, 
	role VARCHAR(16) NOT NULL, 
	text TEXT NOT NULL, 
	answer JSON, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(conversation_id) REFERENCES conversations (id)
);
CREATE TABLE pages (
	version_id VARCHAR(32) NOT NULL, 
	page_index INTEGER NOT NULL, 
	page_label TEXT NOT NULL, 
	text TEXT NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	reason TEXT NOT NULL, 
	width FLOAT NOT NULL, 
	height FLOAT NOT NULL, 
	heading TEXT NOT NULL, 
	confidence FLOAT, 
	boxes BLOB NOT NULL, 
	skip JSON NOT NULL, 
	PRIMARY KEY (version_id, page_index), 
	FOREIGN KEY(version_id) REFERENCES versions (id)
);
CREATE TABLE preferences (
	name VARCHAR(64) NOT NULL, 
	value JSON NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE usage (
	id INTEGER NOT NULL, 
	generator TEXT NOT NULL, 
	calls INTEGER NOT NULL, 
	input_tokens INTEGER NOT NULL, 
	output_tokens INTEGER NOT NULL, 
	estimated BOOLEAN NOT NULL, 
	cost FLOAT, 
	currency VARCHAR(8) NOT NULL, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE versions (
	id VARCHAR(32) NOT NULL, 
	document_id VARCHAR(32) NOT NULL, 
	generation_id INTEGER, 
	sha256 VARCHAR(64) NOT NULL, 
	size INTEGER NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	reason TEXT NOT NULL, 
	pages INTEGER NOT NULL, 
	pages_text INTEGER NOT NULL, 
	pages_ocr INTEGER NOT NULL, 
	pages_empty INTEGER NOT NULL, 
	pages_failed INTEGER NOT NULL, 
	chunks INTEGER NOT NULL, 
	needs_password BOOLEAN NOT NULL, 
	extractor TEXT NOT NULL, 
	added_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(document_id) REFERENCES documents (id), 
	FOREIGN KEY(generation_id) REFERENCES generations (id)
);
CREATE TABLE watched_files (
	watch_id VARCHAR(32) NOT NULL, 
	path TEXT NOT NULL, 
	stamp TEXT NOT NULL, 
	document_id VARCHAR(32), 
	owned BOOLEAN NOT NULL, 
	PRIMARY KEY (watch_id, path), 
	FOREIGN KEY(watch_id) REFERENCES watches (id)
);
CREATE TABLE watches (
	id VARCHAR(32) NOT NULL, 
	url TEXT NOT NULL, 
	collection TEXT NOT NULL, 
	problem TEXT NOT NULL, 
	created_at DATETIME NOT NULL, 
	checked_at DATETIME, 
	PRIMARY KEY (id), 
	UNIQUE (url)
);
CREATE INDEX ix_documents_added_at ON documents (added_at);
CREATE INDEX ix_documents_collection ON documents (collection);
CREATE INDEX ix_documents_active_version ON documents (active_version);
CREATE INDEX ix_documents_name ON documents (name);
CREATE INDEX ix_embeddings_text_hash ON embeddings (text_hash);
CREATE INDEX ix_jobs_document_id ON jobs (document_id);
CREATE INDEX ix_jobs_created_at ON jobs (created_at);
CREATE INDEX ix_jobs_state ON jobs (state);
CREATE INDEX ix_jobs_version_id ON jobs (version_id);
CREATE INDEX ix_conversations_updated_at ON conversations (updated_at);
CREATE INDEX ix_labels_message_id ON labels (message_id);
CREATE INDEX ix_evaluations_created_at ON evaluations (created_at);
CREATE INDEX ix_usage_created_at ON usage (created_at);
CREATE INDEX ix_versions_state ON versions (state);
CREATE INDEX ix_versions_generation_id ON versions (generation_id);
CREATE INDEX ix_versions_sha256 ON versions (sha256);
CREATE INDEX ix_versions_document_id ON versions (document_id);
CREATE INDEX ix_watched_files_document_id ON watched_files (document_id);
CREATE INDEX ix_messages_conversation_id ON messages (conversation_id);
CREATE INDEX ix_messages_created_at ON messages (created_at);
CREATE INDEX ix_chunks_embedding_id ON chunks (embedding_id);
CREATE INDEX chunks_by_version ON chunks (version_id, ordinal);
DELETE FROM "sqlite_sequence";
INSERT INTO conversations VALUES ('c1', 'How long is the bridge?', '2025-01-01 00:00:00', '2025-01-02 00:00:00', 0, '[]');
INSERT INTO messages VALUES ('m1', 'c1', 'user', 'How long is the bridge?', NULL, '2025-01-01 00:00:00');
INSERT INTO documents VALUES ('d1', 'bridge.pdf', 'Bridges', 'v1', '2025-01-01 00:00:00');
INSERT INTO preferences VALUES ('schema', '1');
INSERT INTO preferences VALUES ('top_k', '7');
COMMIT;
